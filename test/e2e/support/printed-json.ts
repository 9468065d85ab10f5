import type { ChildProcess } from 'node:child_process';
import { OutputTail } from '../../support/output-tail.js';

/**
 * Waits for the line of JSON that a sample prints with `--json`.
 *
 * @throws Error with what it printed instead when it ends before
 */
export async function printedJson<T>(sample: ChildProcess): Promise<T> {
  const output = new OutputTail();
  output.collect(sample.stderr);
  const line = await new Promise<string>((resolve, reject) => {
    output.onLine((text) => text.startsWith('{') && resolve(text));
    output.collect(sample.stdout);
    sample.once('close', () => reject(new Error(`The sample ended without a result:\n${output.toString()}`)));
  });
  return JSON.parse(line);
}
