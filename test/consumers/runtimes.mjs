import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.mjs';

/**
 * @typedef {object} Runtime a program that runs JavaScript, from an npm package of the same name
 * @property {string} name `node`
 * @property {string} title `Node 22`
 * @property {string} version as npm takes it
 * @property {string} program where it is installed
 * @property {readonly string[]} args what it gets before a file to run
 */

const TITLES = { node: 'Node', bun: 'Bun', deno: 'Deno' };

/**
 * The runtimes on which the package is tried: the oldest Node that it allows, later long-term versions, Bun and Deno.
 *
 * @param {string} oldestNode
 * @param {string} scratch
 * @returns {readonly Runtime[]}
 */
export function runtimes(oldestNode, scratch) {
  const place = (/** @type {string} */ name, /** @type {string} */ version) =>
    join(scratch, `${name}-${version}`, 'node_modules/.bin', name);
  const runtime = (/** @type {keyof typeof TITLES} */ name, /** @type {string} */ version) => ({
    name,
    title: `${TITLES[name]} ${version.replace(/\.0$/, '')}`,
    version,
    program: place(name, version),
    args: name === 'deno' ? ['run', '--allow-all', '--no-lock'] : [],
  });
  return [
    ...[`${oldestNode}.0`, '22', '24', '26'].map((version) => runtime('node', version)),
    runtime('bun', '1'),
    runtime('deno', '2'),
  ];
}

/** @param {Runtime} runtime */
export function isNode({ name }) {
  return name === 'node';
}

/**
 * @param {Runtime} runtime
 * @param {string} oldestNode
 */
export function isLaterNode(runtime, oldestNode) {
  return isNode(runtime) && runtime.version !== `${oldestNode}.0`;
}

/**
 * Installs it from npm. Packages of the platform bring the programs; nothing else is downloaded.
 *
 * @param {Runtime} runtime
 * @param {AbortSignal} signal
 */
export async function installRuntime({ name, version, program }, signal) {
  const directory = join(program, '../../..');
  await mkdir(directory);
  await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true }));
  const flags = ['--prefer-offline', '--no-audit', '--no-fund'];
  await runProgram('npm', ['install', ...flags, `${name}@${version}`], { cwd: directory, signal });
  const printed = await runProgram(program, ['--version'], { cwd: directory, signal });
  const installed = /\d+\.\d+\.\d+/.exec(printed)?.[0] ?? '';
  if (!installed.startsWith(version)) throw new Error(`${name}@${version} installed ${printed}`);
}
