import { scanScript } from '../scripts/scan.script.js';
import { list, text } from './connection/script-reply.js';
import type { Scripts } from './connection/script-runner.js';

/** Keys that a server looks at in one go: a fraction of a millisecond, for which nobody else is served. */
const COUNT = 200;

/** Where locks are looked for. */
export interface ScannedServer {
  readonly run: Scripts['run'];
  /** On a Cluster a key of the node that is meant; else none. */
  readonly keys: readonly string[];
  /** What precedes `{name}` in a key as Redis sees it. */
  readonly before: string;
}

/**
 * The names that begin so and are locked at a server, some at a time. With the guarantees of SCAN: one that is locked all
 * the time is given, maybe twice; one whose lock comes or goes meanwhile may be.
 */
export async function* scanNames(
  { run, keys, before }: ScannedServer,
  beginning: string,
): AsyncGenerator<readonly string[], void> {
  const pattern = `${literally(before)}{${literally(beginning)}*}`;
  let cursor = '0';
  do {
    const [next, page] = list(await run(scanScript, keys, [cursor, pattern, COUNT]), 2);
    const names = list(page).map((key) => text(key).slice(before.length + 1, -1));
    yield [...new Set(names)].filter((name) => name !== '');
    cursor = text(next);
  } while (cursor !== '0');
}

/** A pattern that matches just this text. */
export function literally(beginning: string): string {
  return beginning.replaceAll(/[*?[\]\\]/g, String.raw`\$&`);
}
