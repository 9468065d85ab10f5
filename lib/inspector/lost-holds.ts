import type { LockHoldLost } from '../diagnostics/lock-events.interface.js';
import type { LockLostReason } from '../errors/lock-lost.error.js';

/** A hold of this process that ended before it was released. */
export interface LostHold {
  readonly name: string;
  /** `Class.method` for a hold of a `@Locked` method. */
  readonly method: string | undefined;
  readonly reason: LockLostReason;
  readonly at: Date;
  /** Milliseconds from the grant on. */
  readonly held: number;
  readonly fencingToken: number;
}

const AT_MOST = 100;

/** Keeps the most recently lost holds, latest first. */
export class LostHolds {
  private readonly latest: LostHold[] = [];

  add({ acquire: { name, method }, reason, held, fencingToken }: LockHoldLost): void {
    this.latest.unshift({ name, method, reason, at: new Date(), held, fencingToken });
    if (this.latest.length > AT_MOST) this.latest.pop();
  }

  all(): readonly LostHold[] {
    return [...this.latest];
  }
}
