import { delimiter } from 'node:path';
import { RUNS } from './suites.mjs';

/**
 * @typedef {import('./servers.mjs').Server} Server
 * @typedef {{ name: string, env: Record<string, string>, runs: readonly import('./suites.mjs').Run[] }} Combination
 * @typedef {{ name: string, missing: string }} MissingCombination
 * @typedef {{ title: string, servers: readonly string[], sentinel?: string, runs: Combination['runs'] }} Mixture
 */

/**
 * Servers of several kinds in one test.
 *
 * @type {readonly Mixture[]}
 */
const MIXTURES = [
  // As while it is upgraded: three masters and, behind each, a replica of the next version.
  {
    title: 'Cluster of',
    servers: ['valkey-8.1', 'valkey-8.1', 'valkey-8.1', 'valkey-9.1', 'valkey-9.1', 'valkey-9.1'],
    runs: [RUNS.cluster],
  },
  { title: 'Sentinel of', servers: ['valkey-9.1'], sentinel: 'redis-8.0', runs: [RUNS.sentinel] },
  {
    title: 'Quorum of',
    servers: ['redis-7.0', 'redis-8.0', 'redis-8.6', 'valkey-8.1', 'valkey-9.1'],
    runs: [RUNS.quorum],
  },
];

/**
 * Each server alone with every suite, and the mixtures.
 *
 * @param {readonly Server[]} servers
 */
export function wholeMatrix(servers) {
  return [...eachServer(servers, [RUNS.oneServer, RUNS.topology, RUNS.quorum]), ...mixtures(servers)];
}

/**
 * Each server alone.
 *
 * @param {readonly Server[]} servers
 * @param {Combination['runs']} runs
 * @returns {(Combination | MissingCombination)[]}
 */
export function eachServer(servers, runs) {
  return servers.map((server) => {
    if ('missing' in server) return server;
    return { name: server.name, env: { REDIS_SERVER: server.program }, runs };
  });
}

/**
 * @param {readonly Server[]} servers
 * @returns {(Combination | MissingCombination)[]}
 */
function mixtures(servers) {
  return MIXTURES.map(({ title, servers: ids, sentinel, runs }) => {
    const found = ids.map((id) => serverOf(servers, id));
    const watching = sentinel === undefined ? [] : [serverOf(servers, sentinel)];
    const kinds = [...new Set(found.map((each) => each.name))].join(', ');
    const name = `${title} ${[...watching.map((each) => `${each.name} over`), kinds].join(' ')}`;
    const programs = [...found, ...watching].flatMap((each) => ('program' in each ? [each.program] : []));
    if (programs.length < found.length + watching.length) return { name, missing: 'one of these is missing' };
    const env = { REDIS_SERVER: programs.slice(0, found.length).join(delimiter) };
    const [watcher] = programs.slice(found.length);
    return { name, runs, env: watcher === undefined ? env : { ...env, REDIS_SENTINEL: watcher } };
  });
}

/**
 * @param {readonly Server[]} servers
 * @param {string} id
 */
function serverOf(servers, id) {
  const server = servers.find((each) => each.id === id);
  if (server === undefined) throw new Error(`A mixture names ${id}, which is no server of the list`);
  return server;
}
