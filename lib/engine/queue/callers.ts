import type { Lease } from '../hold/lease.js';
import type { Waiter } from './waiter.js';
import type { WaitingLine } from './waiting-line.js';

/** How a grant came: by an answer, as the answer to a yield since nobody else waited, or handed off. */
export type GrantedBy = 'answer' | 'yield' | 'hand-off';

/** What is asked for by how shared leases lately went from caller to caller. */
interface LatelyShared {
  /** Fencing tokens for each of several shared holds. */
  tokensEach(): number;
  /** Permits for so many callers. */
  permitsFor(callers: number): number;
}

/** For whom a contender asks. */
export interface Callers {
  readonly line: WaitingLine;
  /** Fencing tokens for so many callers. */
  tokensFor(callers: number): number;
  readonly shares: LatelyShared;
  /** Gives the lock to the first caller. `ttl` was asked for, maybe by a caller who has left since. */
  take(lease: Lease, ttl: number, by: GrantedBy): void;
  /** Gives a hold that others may have, too, to the first caller. */
  share(lease: Lease, ttl: number, by: GrantedBy): void;
  watch(waiter: Waiter): void;
  watchOutage(): void;
  rejectAttempts(which?: (waiter: Waiter) => boolean): void;
  /** Rejects those who want so many replicas, or all: the store said so. */
  reject(error: unknown, replicas?: number): void;
  /** Nobody waits any more. */
  rest(): void;
}
