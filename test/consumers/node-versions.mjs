import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.mjs';

/**
 * @typedef {object} NodeVersion
 * @property {string} name
 * @property {string} version as npm takes it
 * @property {string} program where it is installed
 */

/**
 * The versions of Node on which the package is tried: the oldest that it allows, and the later long-term ones.
 *
 * @param {string} oldest
 * @param {string} scratch
 * @returns {readonly NodeVersion[]}
 */
export function nodeVersions(oldest, scratch) {
  return [`${oldest}.0`, '22', '24'].map((version) => ({
    name: `Node ${version.replace(/\.0$/, '')}`,
    version,
    program: join(scratch, `node-${version}`, 'node_modules/node/bin/node'),
  }));
}

/**
 * Installs it from npm, where the package `node` brings the program.
 *
 * @param {NodeVersion} node
 * @param {AbortSignal} signal
 */
export async function installNode({ version, program }, signal) {
  const directory = join(program, '../../../..');
  await mkdir(directory);
  await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true }));
  const flags = ['--prefer-offline', '--no-audit', '--no-fund'];
  await runProgram('npm', ['install', ...flags, `node@${version}`], { cwd: directory, signal });
  const installed = await runProgram(program, ['--version'], { cwd: directory, signal });
  if (!installed.startsWith(`v${version}`)) throw new Error(`node@${version} installed ${installed}`);
}
