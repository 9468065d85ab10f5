import type { Topology } from './topology.js';

/** A lock was granted. All times are milliseconds of {@link now}. */
export interface Granted {
  readonly topology: Topology;
  readonly token: number;
  readonly at: number;
}

/** A holder has ended its work, or has learned that it must. */
export interface Ended extends Granted {
  readonly why: 'released' | 'lost' | 'fenced';
}

/** A call for the lock failed. */
export interface Refused {
  readonly topology: Topology;
  readonly code: string;
  readonly at: number;
}

/** What a contender tells while it works. */
export interface Notices {
  granted(granted: Granted): void;
  ended(ended: Ended): void;
  refused(refused: Refused): void;
}

/** Milliseconds on a clock that all processes of one machine share, and that never steps. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
