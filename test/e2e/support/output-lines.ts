import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { OutputTail } from '../../support/output-tail.js';

/** The lines of JSON that a sample prints, one after the other. */
export class OutputLines {
  private readonly errors = new OutputTail();
  private readonly lines: AsyncIterator<string>;

  constructor(sample: ChildProcess) {
    this.errors.collect(sample.stderr);
    const input = sample.stdout ?? Readable.from([]);
    this.lines = createInterface({ input })[Symbol.asyncIterator]();
  }

  /** @throws Error with what the sample said on standard error when it ends without another line. */
  async next<T>(): Promise<T> {
    const { done, value } = await this.lines.next();
    if (done) throw new Error(`The sample ended without a result:\n${this.errors.toString()}`);
    return JSON.parse(value) as T;
  }
}
