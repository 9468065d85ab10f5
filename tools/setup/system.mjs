// What the set-up asks of the machine, apart so that tests can stand in for it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/**
 * @typedef {{
 *   env: NodeJS.ProcessEnv,
 *   isRoot: boolean,
 *   run(program: string, args: string[], options: { cwd?: string, env?: NodeJS.ProcessEnv }): boolean,
 *   read(program: string, args: string[]): string | undefined,
 *   link(program: string, at: string): void,
 *   say(line: string): void,
 * }} System
 */

/**
 * The machine that this runs on. Programs get no stdin, so that nothing can wait for an answer.
 *
 * @param {string} root directory of package.json
 * @returns {System}
 */
export function thisSystem(root) {
  const env = {
    ...process.env,
    PATH: [process.env['PATH'], join(root, 'node_modules/.bin')].join(delimiter),
  };
  return {
    env,
    isRoot: process.getuid?.() === 0,
    run(program, args, options) {
      const { status } = spawnSync(program, args, {
        ...options,
        env: { ...env, ...options.env },
        // On stderr, so that the output of the script that follows stays its own.
        stdio: ['ignore', 2, 2],
      });
      return status === 0;
    },
    read(program, args) {
      const { status, stdout } = spawnSync(program, args, {
        env,
        stdio: ['ignore', 'pipe', 2],
        encoding: 'utf8',
      });
      return status === 0 ? stdout.trim() : undefined;
    },
    link(program, at) {
      mkdirSync(dirname(at), { recursive: true });
      rmSync(at, { force: true });
      symlinkSync(program, at);
    },
    say: (line) => console.error(line),
  };
}
