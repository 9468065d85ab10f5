import type { LockLog } from '../../../diagnostics/lock-log.js';
import type { Redaction } from './redaction.js';
import { connectionError } from './redis-error.js';

/** Logs each problem of a connection once, without credentials, and its end. */
export class Trouble {
  private last: Error | undefined;
  /** Problems since the last success; several connections may fail alternately with different messages. */
  private readonly logged = new Set<string>();

  constructor(
    private readonly redaction: Redaction,
    private readonly log: LockLog,
  ) {}

  get error(): Error | undefined {
    return this.last;
  }

  report(error: unknown): void {
    const clean = connectionError(error, this.redaction);
    this.last = clean;
    if (this.logged.has(clean.message)) return;
    this.logged.add(clean.message);
    this.log.error(`Redis cannot be used for locks: ${clean.message || clean.name}`);
  }

  end(): void {
    if (!this.last) return;
    this.last = undefined;
    this.logged.clear();
    this.log.log('Redis can be used for locks again.');
  }
}
