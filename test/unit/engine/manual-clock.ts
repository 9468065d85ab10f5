import type { Clock, ScheduledCall } from '../../../lib/primitives/clock.js';

interface Appointment {
  readonly due: number;
  readonly call: () => void;
}

/** Time that passes only when a test says so. */
export class ManualClock implements Clock {
  sleeps = 0;
  private time = 1_000;
  private slept = 0;
  private noticed = 0;
  private tellSleep: () => void = () => undefined;
  private readonly appointments = new Set<Appointment>();
  /** Number of calls that wait for the end of the input. */
  private inputs = 0;

  now(): number {
    if (this.noticed !== this.slept) {
      this.sleeps++;
      queueMicrotask(this.tellSleep);
    }
    this.noticed = this.slept;
    return this.time + this.slept;
  }

  onSleep(call: () => void): void {
    this.tellSleep = call;
  }

  schedule(call: () => void, delay: number): ScheduledCall {
    const appointment = { due: this.time + Math.max(delay, 0), call };
    this.appointments.add(appointment);
    return appointment as unknown as ScheduledCall;
  }

  cancel(call: ScheduledCall | undefined): void {
    this.appointments.delete(call as unknown as Appointment);
  }

  afterInput(call: () => void): void {
    this.inputs++;
    setImmediate(() => {
      this.inputs--;
      call();
    });
  }

  get hasInput(): boolean {
    return this.inputs > 0;
  }

  keepAlive(): void {}

  /** Calls that are still to come. */
  get pending(): number {
    return this.appointments.size;
  }

  /** When calls are due, the earliest first. */
  get times(): number[] {
    return [...this.appointments].map(({ due }) => due).toSorted((a, b) => a - b);
  }

  /** Lets time pass, with every call at its time, and what the calls set off. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    for (let next = this.nextUntil(end); next; next = this.nextUntil(end)) {
      this.time = Math.max(this.time, next.due);
      this.fire();
      await settle();
    }
    this.time = end;
    await settle();
  }

  /** Lets time pass while nothing runs, as in a process that is stopped; what came due meanwhile runs at its end. */
  async freeze(milliseconds: number): Promise<void> {
    this.time += milliseconds;
    await this.advance(0);
  }

  /** Lets time pass in which no timer rings, however late: what an answer finds that is read before them. */
  skip(milliseconds: number): void {
    this.time += milliseconds;
  }

  /** Lets the machine sleep: time has passed, but no timer has come nearer to its end, and nobody knows before asking. */
  sleep(milliseconds: number): void {
    this.slept += milliseconds;
  }

  /** Makes the first call that is due now. */
  fire(): void {
    const next = this.nextUntil(this.time);
    if (!next) return;
    this.appointments.delete(next);
    next.call();
  }

  private nextUntil(end: number): Appointment | undefined {
    return [...this.appointments]
      .filter(({ due }) => due <= end)
      .toSorted((a, b) => a.due - b.due)
      .at(0);
  }
}

/** Lets everything run that waits for nothing but promises. */
export function settle(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Does something, and lets everything run that follows from it. */
export async function settleAfter(act: () => void): Promise<void> {
  act();
  await settle();
}
