import type { ChildProcess } from 'node:child_process';
import { OutputTail } from '../../support/output-tail.js';

/**
 * Waits for the line of JSON that a program prints.
 *
 * @throws Error with what it printed instead, when it ends without.
 */
export async function printedJson<T>(program: ChildProcess): Promise<T> {
  const output = new OutputTail();
  output.collect(program.stderr);
  const line = await new Promise<string>((resolve, reject) => {
    output.onLine((text) => text.startsWith('{') && resolve(text));
    output.collect(program.stdout);
    program.once('close', () =>
      reject(new Error(`The program ended without a result:\n${output.toString()}`)),
    );
  });
  return JSON.parse(line);
}
