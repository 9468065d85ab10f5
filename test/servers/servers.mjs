import { join } from 'node:path';
import { DebianSuite } from './debian-suite.mjs';

/**
 * @typedef {import('../../tools/setup/system.mjs').System} System
 * @typedef {{ id: string, package: string, suite: string, over?: string }} Source
 * @typedef {{ id: string, name: string, program: string } | { id: string, name: string, missing: string }} Server
 */

/** What is tried, and which of Debian's suites has it. */
export const SOURCES = /** @satisfies {readonly Source[]} */ ([
  { id: 'redis-7.0', package: 'redis-server', suite: 'bookworm' },
  { id: 'redis-8.0', package: 'redis-server', suite: 'forky' },
  { id: 'redis-8.6', package: 'redis-server', suite: 'experimental', over: 'sid' },
  { id: 'valkey-8.1', package: 'valkey-server', suite: 'trixie' },
  { id: 'valkey-9.1', package: 'valkey-server', suite: 'forky' },
]);

/**
 * What is tried, but for the release that the tests run on here.
 *
 * @param {System} system
 * @returns {readonly Source[]}
 */
export function othersThanHere(system) {
  const here = namedServer(system.env['REDIS_SERVER'] || 'redis-server', system).name.toLowerCase();
  return SOURCES.filter(({ id }) => !here.startsWith(`${id.replace('-', ' ')}.`));
}

/**
 * Gets every server, or says why one cannot be had.
 *
 * @param {string} cache a folder that may stay for the next time
 * @param {System} system
 * @param {readonly Source[]} [sources]
 * @returns {Server[]}
 */
export function provideServers(cache, system, sources = SOURCES) {
  /** @type {Map<string, DebianSuite>} */
  const suites = new Map();
  return sources.map((source) => {
    try {
      const suite = suites.get(source.suite) ?? openSuite(source, cache, system);
      suites.set(source.suite, suite);
      return { id: source.id, ...identify(suite.provide(source.package), system) };
    } catch (error) {
      return missing(source.id, error);
    }
  });
}

/**
 * A server that is on this machine already.
 *
 * @param {string} program
 * @param {System} system
 * @returns {Server}
 */
export function namedServer(program, system) {
  try {
    return { id: program, ...identify(program, system) };
  } catch (error) {
    return missing(program, error);
  }
}

/**
 * @param {Source} source
 * @param {string} cache
 * @param {System} system
 */
function openSuite(source, cache, system) {
  const suite = new DebianSuite(source, join(cache, source.suite), system);
  if (!suite.refresh())
    system.say(`Debian's ${source.suite} could not be looked up: what is here of it is used`);
  return suite;
}

/**
 * @param {string} program
 * @param {System} system
 */
function identify(program, system) {
  const said = system.read(program, ['--version']) ?? '';
  const [, kind, version] = /^(\w+) server v=(\S+)/.exec(said) ?? [];
  if (kind === undefined) throw new Error(`${program} does not say its version`);
  return { name: `${kind} ${version}`, program };
}

/**
 * @param {string} id
 * @param {unknown} error
 */
function missing(id, error) {
  return { id, name: id, missing: error instanceof Error ? error.message : String(error) };
}
