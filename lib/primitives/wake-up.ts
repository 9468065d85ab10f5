import type { Clock, ScheduledCall } from './clock.js';

/**
 * A timer that moves forward when an earlier time is added. It may call back early: the callback must check what is
 * due.
 */
export class WakeUp {
  private timer: ScheduledCall | undefined;
  private due = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly ring: (now: number) => void,
  ) {}

  /** Calls back at `due` at the latest, on {@link Clock.now}'s scale. */
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

  /** Calls back after `delay`. */
  protected sleep(delay: number): void {
    this.wait(delay, () => this.end());
  }

  /** Calls back after `delay`, with the delay of the event loop in milliseconds. */
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

/** Longest last part of a wait for a reply, in milliseconds: two round trips to a distant server. */
export const LAST_PART = 250;
/** Milliseconds that a timer may be late without a blocked event loop. */
const PUNCTUAL = 5;
/** How often the last part restarts: the loop may be blocked again and again, each time right after another call. */
const MAX_RESTARTS = 10;

/**
 * Calls back when the time for a reply has passed.
 *
 * While the event loop is blocked, requests may be unwritten and replies unread. The last part of the time therefore
 * counts only while the event loop runs: it begins after the first part, and restarts if its own timer is late.
 */
export class AnswerWakeUp extends WakeUp {
  constructor(clock: Clock, ring: (now: number) => void) {
    super(clock, () => clock.afterInput(() => ring(clock.now())));
  }

  protected override sleep(delay: number): void {
    const last = Math.floor(Math.min(LAST_PART, delay / 2));
    this.wait(delay - last, () => this.finish(last, last, MAX_RESTARTS));
  }

  private finish(part: number, last: number, restarts: number): void {
    this.wait(part, (late) => {
      if (late > PUNCTUAL && restarts > 0) this.finish(Math.min(late, last), last, restarts - 1);
      else this.end();
    });
  }
}
