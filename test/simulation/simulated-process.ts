import type { Clock, ScheduledCall } from '../../lib/primitives/clock.js';
import type { Appointment, VirtualTime } from './virtual-time.js';

/** What can make a process run: its timers, or what arrives on one of its two connections. */
export type Source = 'timers' | 'replies' | 'messages';

interface Timer {
  readonly appointment: Appointment;
}

/**
 * One process with a clock that runs a little fast or slow.
 *
 * While it is stopped its clock goes on, as CLOCK_MONOTONIC does, but nothing in it runs: what comes due
 * meanwhile does when it goes on, each source in its order, the sources in any.
 */
export class SimulatedProcess implements Clock {
  alive = true;
  /** When it last went on after it had been stopped, on its own clock. */
  wokeAt = -Infinity;
  /** Its machine never sleeps. */
  readonly sleeps = 0;
  private stopped = false;
  private readonly held: Record<Source, (() => void)[]> = { timers: [], replies: [], messages: [] };
  private overdue = 0;
  private readonly timers = new Set<Timer>();

  constructor(
    private readonly time: VirtualTime,
    /** Milliseconds of this clock in a true one. */
    readonly rate: number,
    private readonly origin: number,
  ) {}

  /** Whether it runs, with nothing overdue. */
  get awake(): boolean {
    return this.alive && !this.stopped && this.overdue === 0;
  }

  now(): number {
    return this.origin + this.time.now * this.rate;
  }

  schedule(call: () => void, delay: number): ScheduledCall {
    const timer: Timer = {
      appointment: this.time.after(Math.max(delay, 1) / this.rate, () =>
        this.run('timers', () => {
          if (!this.timers.delete(timer)) return;
          call();
        }),
      ),
    };
    this.timers.add(timer);
    return timer as unknown as ScheduledCall;
  }

  cancel(call: ScheduledCall | undefined): void {
    if (!call) return;
    const timer = call as unknown as Timer;
    timer.appointment.cancelled = true;
    this.timers.delete(timer);
  }

  onSleep(): void {}

  keepAlive(): void {}

  /** After all else that happens at this moment. */
  afterInput(call: () => void): void {
    this.schedule(call, 0);
  }

  /** Runs something now, or when the process goes on. */
  run(source: Source, call: () => void): void {
    if (!this.alive) return;
    if (this.stopped) this.held[source].push(call);
    else if (this.overdue > 0) this.runOverdue(source, call);
    else call();
  }

  stop(): void {
    this.stopped = true;
  }

  goOn(order: readonly Source[]): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.wokeAt = this.now();
    for (const source of order) {
      for (const call of this.held[source].splice(0)) this.runOverdue(source, call);
    }
  }

  crash(): void {
    this.alive = false;
    for (const timer of this.timers) timer.appointment.cancelled = true;
    this.timers.clear();
  }

  private runOverdue(source: Source, call: () => void): void {
    this.overdue++;
    this.time.after(0, () => {
      this.overdue--;
      if (!this.alive) return;
      if (this.stopped) this.held[source].push(call);
      else call();
    });
  }
}
