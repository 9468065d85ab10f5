import type { Clock, ScheduledCall } from '../../primitives/clock.js';

/** Milliseconds between two readings of the clock, the longest delay until a suspend is detected. */
const LOOK_INTERVAL = 1_000;

/**
 * Reads the clock each second while holds exist, to detect a suspend. Timers do not count the time of a suspend, so it
 * would otherwise be detected only when the next timer fires.
 */
export class SuspendWatch {
  private timer: ScheduledCall | undefined;
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly isNeeded: () => boolean,
    wake: (now: number) => void,
  ) {
    clock.onSleep(() => {
      if (!this.stopped && isNeeded()) wake(clock.now());
    });
  }

  /** Watches while it is needed. */
  start(): void {
    this.timer ??= this.clock.schedule(() => this.look(), LOOK_INTERVAL);
  }

  stop(): void {
    this.stopped = true;
    this.clock.cancel(this.timer);
  }

  private look(): void {
    this.timer = undefined;
    if (!this.isNeeded()) return;
    // The clock itself reports a suspend.
    this.clock.now();
    this.start();
  }
}
