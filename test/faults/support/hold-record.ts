import type { Wanted } from '../../support/may-hold-together.js';

/** What one hold looked like from inside its process, in milliseconds on the shared clock. */
export interface HoldRecord extends Wanted {
  /** `<process>/<caller>/<number>`. */
  readonly id: string;
  readonly name: string;
  readonly token: number;
  readonly askedAt: number;
  readonly begin: number;
  /** The last moment at which `held` was seen true; undefined where it never was. */
  heldUntil: number | undefined;
  /** The first moment at which `held` was seen false although the work still ran. */
  lostSeenAt: number | undefined;
  /** Moments at which `held` was false, the work still ran and the signal had not aborted. */
  readonly unabortedAt: number[];
  abortedAt: number | undefined;
  /** When the resource refused a write although `held` was true even after that. */
  refusedAt: number | undefined;
  end: number | undefined;
  outcome: 'result' | 'lost' | 'work failed' | undefined;
}

/** An acquire that gave no lock. */
export interface RefusedAcquire {
  readonly name: string;
  readonly askedAt: number;
  readonly refusedAt: number;
  readonly code: string;
  readonly message: string;
}

/** What one process saw. */
export interface ContenderReport {
  readonly holds: readonly HoldRecord[];
  readonly refused: readonly RefusedAcquire[];
  /** Sentences about what must never happen and did: unhandled rejections, masked errors, results thrown away. */
  readonly problems: readonly string[];
}
