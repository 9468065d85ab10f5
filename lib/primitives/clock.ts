import { setImmediate, setInterval } from 'node:timers';
import { inRootContext } from './root-context.js';

/** A pending call of {@link Clock.schedule}. */
export type ScheduledCall = ReturnType<typeof setTimeout>;

/** The engine's source of time, in milliseconds; tests control it. Callbacks run outside any caller's async context. */
export interface Clock {
  /** Monotonic time that also advances while the machine sleeps; only differences are meaningful. */
  now(): number;
  /** Runs `call` once after `delay`. A pending call never keeps the process alive. */
  schedule(call: () => void, delay: number): ScheduledCall;
  cancel(call: ScheduledCall | undefined): void;
  /** How often a suspend, or a possible suspend, was detected; `now` jumped by its duration each time. */
  readonly sleeps: number;
  /** Runs `call` after each detected suspend, in a microtask after the call of `now` that detected it. */
  onSleep(call: () => void): void;
  /**
   * Runs `call` when all received data has been read. After a blocked event loop, timers run first, but a reply that is
   * received and not yet read must not count as silence. Fake timers of a test do not replace it: data is read in real time.
   */
  afterInput(call: () => void): void;
  /** Keeps the process alive while a caller waits: called at the begin and at the end of each wait. */
  keepAlive(isWaiting: boolean): void;
}

const MAX_DELAY = 2 ** 31 - 1;
/** Keeps the process alive while callers wait. */
let lifeline: NodeJS.Timeout | undefined;
/** Number of callers that wait in this process. */
let callers = 0;
const SUSPEND_TOLERANCE = 500;
/**
 * Shortest interval between two readings of both clocks, in ms. Suspend and resume take longer on the monotonic clock.
 */
const LOOK_INTERVAL = 0.1;

/**
 * The monotonic clock, corrected by the time that a suspended machine slept through.
 *
 * CLOCK_MONOTONIC stands still during a suspend, but leases in Redis continue. A jump of the wall clock ahead of it
 * therefore counts as elapsed time: a hold must end too early rather than too late. Slow drift of the wall
 * clock (NTP slewing) and jumps back have no effect.
 */
export class SystemClock implements Clock {
  sleeps = 0;
  private offset = Date.now() - performance.now();
  private slept = 0;
  private lookedAt = -Infinity;
  private readonly afterSleep: (() => void)[] = [];

  now(): number {
    const monotonic = performance.now();
    if (monotonic - this.lookedAt >= LOOK_INTERVAL) this.look(monotonic);
    return monotonic + this.slept;
  }

  schedule(call: () => void, delay: number): ScheduledCall {
    return inRootContext(() => setTimeout(call, Math.min(Math.max(delay, 0), MAX_DELAY)).unref());
  }

  cancel(call: ScheduledCall | undefined): void {
    clearTimeout(call);
  }

  onSleep(call: () => void): void {
    this.afterSleep.push(call);
  }

  afterInput(call: () => void): void {
    // Not the global function: fake timers of tests would delay it by another millisecond.
    inRootContext(() => setImmediate(call));
  }

  keepAlive(isWaiting: boolean): void {
    lifeline ??= inRootContext(() => setInterval(() => undefined, MAX_DELAY));
    callers += isWaiting ? 1 : -1;
    if (callers > 0) lifeline.ref();
    else lifeline.unref();
  }

  private look(monotonic: number): void {
    const offset = Date.now() - monotonic;
    const ahead = offset - this.offset;
    this.offset = offset;
    this.lookedAt = monotonic;
    if (ahead <= SUSPEND_TOLERANCE) return;
    this.slept += ahead;
    this.sleeps++;
    // Deferred, because the code that reads the time may be in the middle of a change of state.
    for (const call of this.afterSleep) inRootContext(() => queueMicrotask(call));
  }
}
