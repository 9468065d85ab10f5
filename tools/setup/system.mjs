// The machine, as the set-up uses it; tests pass another one.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';

/**
 * @typedef {{ what?: string, cwd?: string, env?: NodeJS.ProcessEnv }} RunOptions `what` is told with its seconds
 * @typedef {{
 *   env: NodeJS.ProcessEnv,
 *   isRoot: boolean,
 *   run(program: string, args: string[], options?: RunOptions): boolean,
 *   read(program: string, args: string[]): string | undefined,
 *   link(program: string, at: string): void,
 *   say(line: string): void,
 * }} System
 */

/**
 * The machine that this process runs on. Programs get no stdin, so none can wait for an answer.
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
    run(program, args, { what, ...options } = {}) {
      // To stderr: stdout belongs to the script that follows.
      if (what) process.stderr.write(`${what} … `);
      const start = performance.now();
      const { status, stdout, stderr } = spawnSync(program, args, {
        ...options,
        env: { ...env, ...options.env },
        stdio: ['ignore', 'pipe', 'pipe'],
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
      });
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      const isDone = status === 0;
      if (what) process.stderr.write(isDone ? `${seconds} s\n` : `failed after ${seconds} s\n`);
      // The output of a program matters only if it fails.
      if (!isDone) process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
      return isDone;
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
