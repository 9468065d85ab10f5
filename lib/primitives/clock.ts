import { inRootContext } from './root-context.js';

/** A pending call of {@link Clock.schedule}. */
export type ScheduledCall = ReturnType<typeof setTimeout>;

/** Time as the engine sees it, in milliseconds. Tests drive it. What it calls back runs in nobody's async context. */
export interface Clock {
  /** Grows with the time that passes, also while the machine sleeps; only differences mean something. */
  now(): number;
  /** Runs `call` once after `delay`. A pending call never keeps the process alive. */
  schedule(call: () => void, delay: number): ScheduledCall;
  cancel(call: ScheduledCall | undefined): void;
  /** How often it was found that the machine has slept, or may have: `now` has jumped by that time. */
  readonly sleeps: number;
  /** Runs `call` each time it is found that the machine has slept, right after whatever asked for the time then. */
  onSleep(call: () => void): void;
  /**
   * Runs `call` once what has arrived by now was read. After the event loop was blocked timers come first, and
   * an answer that only waits to be read is no silence.
   */
  afterInput(call: () => void): void;
}

const MAX_DELAY = 2 ** 31 - 1;
const SUSPEND_TOLERANCE = 500;
/** A machine takes longer than this to suspend and to resume, on its monotonic clock: no need to look more often. */
const LOOK_INTERVAL = 0.1;

/**
 * The monotonic clock, corrected by the time that a suspended machine slept through.
 *
 * CLOCK_MONOTONIC stands still during a suspend while Redis's leases run on, so a jump of the wall clock
 * ahead of it counts as time that has passed: a lease is rather given up too early than too late.
 * Slow drift of the wall clock (NTP slewing) and jumps back are followed without effect.
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
    inRootContext(() => setImmediate(call));
  }

  private look(monotonic: number): void {
    const offset = Date.now() - monotonic;
    const ahead = offset - this.offset;
    this.offset = offset;
    this.lookedAt = monotonic;
    if (ahead <= SUSPEND_TOLERANCE) return;
    this.slept += ahead;
    this.sleeps++;
    // Not now: whoever asks for the time may be in the middle of anything.
    for (const call of this.afterSleep) inRootContext(() => queueMicrotask(call));
  }
}
