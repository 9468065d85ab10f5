import type { Clock, ScheduledCall } from '../../lib/primitives/clock.js';

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

/** The clock of one instance. Its timers fire as steps of a world, the earliest first. */
export class WorldClock implements Clock {
  readonly sleeps = 0;
  readonly timers: Timer[] = [];
  private calls: (() => void)[] = [];

  constructor(private readonly world: { readonly now: number }) {}

  now(): number {
    return this.world.now;
  }

  schedule(call: () => void, delay: number): ScheduledCall {
    const timer = { at: this.world.now + Math.max(1, delay), call };
    this.timers.push(timer);
    this.timers.sort((a, b) => a.at - b.at);
    return timer as unknown as ScheduledCall;
  }

  cancel(call: ScheduledCall | undefined): void {
    const place = this.timers.indexOf(call as unknown as Timer);
    if (place >= 0) this.timers.splice(place, 1);
  }

  onSleep(): void {
    // Its machine never sleeps.
  }

  keepAlive(): void {
    // Its process does not end.
  }

  afterInput(call: () => void): void {
    this.calls.push(call);
  }

  /** Makes the calls that wait for the end of the input; returns whether there were any. */
  endInput(): boolean {
    const { calls } = this;
    this.calls = [];
    for (const call of calls) call();
    return calls.length > 0;
  }
}
