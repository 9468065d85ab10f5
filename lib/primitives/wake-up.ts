import type { Clock, ScheduledCall } from './clock.js';

/** One timer that is moved forward as earlier appointments come in. It may ring with nothing due: look again then. */
export class WakeUp {
  private timer: ScheduledCall | undefined;
  private due = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly ring: (now: number) => void,
  ) {}

  /** Rings at `due` at the latest, on {@link Clock.now}'s scale. */
  at(due: number): void {
    if (due >= this.due) return;
    this.clear();
    this.due = due;
    this.sleep(Math.max(0, Math.ceil(due - this.clock.now())));
  }

  clear(): void {
    this.clock.cancel(this.timer);
    this.timer = undefined;
    this.due = Infinity;
  }

  /** Rings after `delay`. */
  protected sleep(delay: number): void {
    this.wait(delay, () => this.end());
  }

  /** Calls back after `delay`, with how many milliseconds later than that the event loop did so. */
  protected wait(delay: number, then: (late: number) => void): void {
    const due = this.clock.now() + delay;
    this.timer = this.clock.schedule(() => then(this.clock.now() - due), delay);
  }

  protected end(): void {
    this.timer = undefined;
    this.due = Infinity;
    this.ring(this.clock.now());
  }
}

/** Longest last part of a wait for an answer, in milliseconds: two round trips to a distant server. */
export const LAST_PART = 250;
/** Milliseconds that a timer may be late without a blocked event loop. */
const PUNCTUAL = 5;

/**
 * Rings when the time for an answer has ended.
 *
 * While the event loop is blocked, requests may wait to be written and answers to be read. So the last part of the time
 * counts only while the event loop runs: it begins after the rest, and again where its own timer is late.
 */
export class AnswerWakeUp extends WakeUp {
  constructor(clock: Clock, ring: (now: number) => void) {
    super(clock, () => clock.afterInput(() => ring(clock.now())));
  }

  protected override sleep(delay: number): void {
    const last = Math.floor(Math.min(LAST_PART, delay / 2));
    const end = (): void => this.end();
    this.wait(delay - last, () =>
      this.wait(last, (late) => (late > PUNCTUAL ? this.wait(Math.min(late, last), end) : end())),
    );
  }
}
