import type { Clock } from './clock.js';
import { WakeUp } from './wake-up.js';

/** Something that waits for an answer of the store. */
export interface Watched {
  /** Refuses who has waited long enough; returns when to look again, Infinity for never. */
  checkOutage(now: number): number;
}

/** Looks after requests that the store has not answered, with one timer for all of them. */
export class OutageWatch {
  private readonly silent = new Set<Watched>();
  private readonly wakeUp: WakeUp;

  constructor(private readonly clock: Clock) {
    this.wakeUp = new WakeUp(clock, () => clock.afterInput(() => this.check()));
  }

  add(queue: Watched, due: number): void {
    this.silent.add(queue);
    this.wakeUp.at(due);
  }

  /** The timer stays as it is: an answered request must not cost one. */
  delete(queue: Watched): void {
    this.silent.delete(queue);
  }

  private check(): void {
    const now = this.clock.now();
    for (const queue of this.silent) this.wakeUp.at(queue.checkOutage(now));
  }
}
