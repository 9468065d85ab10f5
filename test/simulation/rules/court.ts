import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { LockInfo } from '../../../lib/store/lock-snapshot.interface.js';
import type { Attempt } from '../attempt.js';
import type { Expectations } from '../schedule.js';
import type { Servers } from '../servers.js';
import type { VirtualTime } from '../virtual-time.js';

/** What a timer may be late by: timers go in whole milliseconds. */
export const TIMER_SLACK = 3;
/** What the slowest clock makes a re-ask late by. */
export const CLOCK_SLACK = 10;

/** What the rules know of a schedule that runs. */
export interface Court {
  readonly time: VirtualTime;
  readonly servers: Servers;
  readonly expectations: Expectations;
  /** Since when all faults are over. */
  readonly quietSince: number;
  readonly attempts: readonly Attempt[];
  readonly names: ReadonlySet<string>;
  /** What the servers keep of a name. */
  readonly held: (name: string) => readonly LockInfo[];
  readonly fail: (what: string) => never;
}

/** Something that must hold whatever happens. */
export interface Rule {
  /** An attempt has just become a hold. */
  granted?(attempt: Attempt, lock: Lock): void;
  /** Time has passed, and what is due has not been done. */
  beforeEvent?(): void;
  /** Everything that was due has been done; `live` are the attempts of processes that run. */
  afterEvent?(live: readonly Attempt[]): void;
}
