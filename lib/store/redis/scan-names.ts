import { commandScript } from '../scripts/command.script.js';
import { list, text } from './connection/script-reply.js';
import type { ScriptRunner } from './connection/script-runner.js';

/** Number of keys in one step of the scan, which blocks the server for a fraction of a millisecond. */
const COUNT = 200;

export interface ScannedServer {
  readonly run: ScriptRunner['run'];
  /** A key of the node on a Cluster, otherwise any key: proxies refuse scripts without a key. */
  readonly keys: readonly [string];
  /** The part before `{name}` in a key as Redis receives it. */
  readonly before: string;
}

/**
 * Iterates over the locked names of a server with a prefix, some at a time. It has the guarantees of SCAN: a name that
 * is locked throughout is returned, possibly twice; other names may be missing.
 */
export async function* scanNames(
  { run, keys, before }: ScannedServer,
  beginning: string,
): AsyncGenerator<readonly string[], void> {
  const pattern = `${literally(before)}{${literally(beginning)}*}`;
  let cursor = '0';
  do {
    const command = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', COUNT];
    const [next, page] = list(await run(commandScript, keys, command), 2);
    const names = list(page).map((key) => text(key).slice(before.length + 1, -1));
    yield [...new Set(names)].filter((name) => name !== '');
    cursor = text(next);
  } while (cursor !== '0');
}

/** Escapes a text for a pattern. */
export function literally(beginning: string): string {
  return beginning.replaceAll(/[*?[\]\\]/g, String.raw`\$&`);
}
