import type { FaultStep, LossStep, Schedule } from '../schedule.js';

/** A call of `once`. */
export interface OnceStep {
  readonly kind: 'once';
  readonly instance: number;
  readonly name: string;
  readonly ttl: number;
  readonly keep: number;
  readonly wait: number;
  readonly outageTimeout: number;
  readonly renew: boolean;
  readonly maxHold: number;
  /** Milliseconds of the work, if this call runs. */
  readonly work: number;
  /** Whether the work rejects. */
  readonly fails: boolean;
  /** Gives up the wait after this long. */
  readonly abortAfter: number | undefined;
}

/** A caller that holds the name without a result. */
export interface HoldStep {
  readonly kind: 'hold';
  readonly instance: number;
  readonly name: string;
  readonly ttl: number;
  readonly work: number;
}

/** A caller that deletes the kept result. */
export interface ForgetStep {
  readonly kind: 'forget';
  readonly instance: number;
  readonly name: string;
}

export type CallStep = OnceStep | HoldStep | ForgetStep;

/** A step so many milliseconds after the previous one. */
export type TimedOnceStep = (CallStep | FaultStep | LossStep) & { readonly after: number };

export interface OnceSchedule extends Omit<Schedule, 'steps' | 'quorum'> {
  readonly steps: readonly TimedOnceStep[];
}

/** What the rules may demand of a schedule. */
export interface OnceExpectations {
  /** Only crashes disturb the callers: no message is late or lost. */
  readonly calm: boolean;
  /** The server keeps its locks and results. */
  readonly keepsData: boolean;
}

const CALM: ReadonlySet<TimedOnceStep['kind']> = new Set(['once', 'hold', 'forget', 'crash']);
const LONGEST_CALM_TRIP = 3;

export function onceExpectations({ latencies, steps }: OnceSchedule): OnceExpectations {
  return {
    calm: Math.max(...latencies) <= LONGEST_CALM_TRIP && steps.every(({ kind }) => CALM.has(kind)),
    keepsData: steps.every(({ kind }) => kind !== 'flush' && kind !== 'forceRelease'),
  };
}
