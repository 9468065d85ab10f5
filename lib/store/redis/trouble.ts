import type { LockLog } from '../lock-log.js';
import type { Redaction } from './redaction.js';

/** What is wrong with a connection. Each trouble is logged once, without credentials, and so is its end. */
export class Trouble {
  private last: Error | undefined;

  constructor(
    private readonly redaction: Redaction,
    private readonly log: LockLog,
  ) {}

  get error(): Error | undefined {
    return this.last;
  }

  report(error: unknown): void {
    const clean = this.redaction.error(error);
    if (this.last?.message === clean.message) return;
    this.last = clean;
    this.log.error(`Redis cannot be used for locks: ${clean.message || clean.name}`);
  }

  end(): void {
    if (!this.last) return;
    this.last = undefined;
    this.log.log('Redis can be used for locks again.');
  }
}
