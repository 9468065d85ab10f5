import type { Clock, ScheduledCall } from '../../primitives/clock.js';

/** How long a suspend may go unnoticed, in milliseconds after the machine has woken up. */
const LOOK_INTERVAL = 1_000;

/**
 * Asks for the time each second while somebody has to know that the machine has slept: timers do not count that time,
 * so without a question it would be found when the next of them rings.
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

  /** Watches until nobody has to know any more. */
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
    // The clock itself tells what it finds.
    this.clock.now();
    this.start();
  }
}
