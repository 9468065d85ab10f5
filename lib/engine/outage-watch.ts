import type { Clock } from './clock.js';
import { WakeUp } from './wake-up.js';

/** Something that may wait for an answer of the store. */
export interface Watched {
  /** Refuses who has waited long enough; returns when to look again, Infinity for never. */
  checkOutage(now: number): number;
}

/** Looks after requests that the store has not answered, with one timer for all of them. An answered one costs nothing. */
export class OutageWatch {
  private readonly wakeUp: WakeUp;

  /** @param queues all that may have asked the store for something */
  constructor(clock: Clock, queues: () => Iterable<Watched>) {
    this.wakeUp = new WakeUp(clock, () =>
      clock.afterInput(() => {
        const now = clock.now();
        for (const queue of queues()) this.at(queue.checkOutage(now));
      }),
    );
  }

  stop(): void {
    this.wakeUp.clear();
  }

  /** Looks at `due` at the latest. */
  at(due: number): void {
    this.wakeUp.at(due);
  }
}
