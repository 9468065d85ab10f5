import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { spawnWithLifeline, type LifelineOptions } from './lifeline.js';

/** How to start a TypeScript file as a process. */
export interface TypeScriptProcessOptions extends Pick<LifelineOptions, 'channel'> {
  /** Variables beside those of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** The Node that runs it. Default: the Node of this process. */
  readonly node?: string;
}

/** Arguments for Node. */
const TYPESCRIPT_HOOKS = ['typescript.hook.cjs', 'source.hook.cjs'].flatMap((hook) => [
  '--require',
  join(__dirname, '../../tools', hook),
]);

/**
 * Starts a TypeScript file with Node; 'nest-redis-lock' means the source in lib there, as in the tests.
 *
 * The process ends with this one, even when this one is killed. What it forks itself is compiled the same way.
 *
 * @example
 * const child = spawnTypeScript(join(__dirname, 'contender.ts'), ['--callers', '25']);
 */
export function spawnTypeScript(
  file: string,
  args: readonly string[] = [],
  { env, channel, node = process.execPath }: TypeScriptProcessOptions = {},
): ChildProcess {
  return spawnWithLifeline(node, [...TYPESCRIPT_HOOKS, file, ...args], {
    env: { ...process.env, ...env },
    ...(channel === undefined ? {} : { channel }),
  });
}

/** What a process prints until it has ended. */
export async function printedBy({
  stdout,
  stderr,
}: ChildProcess): Promise<{ output: string; errors: string }> {
  const [output, errors] = await Promise.all([textOf(stdout), textOf(stderr)]);
  return { output, errors };
}

async function textOf(stream: Readable | null): Promise<string> {
  return stream === null ? '' : text(stream);
}
