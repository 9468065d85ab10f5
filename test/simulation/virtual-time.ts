import { settle } from '../unit/engine/manual-clock.js';

/** A call that {@link VirtualTime} makes when its moment comes. */
export interface Appointment {
  readonly at: number;
  readonly call: () => void;
  cancelled: boolean;
}

/** Time that only passes when nothing is left to do, in milliseconds. */
export class VirtualTime {
  private current = 0;
  /** In order of their moments; among equal ones, in order of their making. */
  private readonly appointments: Appointment[] = [];

  get now(): number {
    return this.current;
  }

  private get next(): number | undefined {
    while (this.appointments[0]?.cancelled) this.appointments.shift();
    return this.appointments[0]?.at;
  }

  at(moment: number, call: () => void): Appointment {
    const appointment = { at: Math.max(moment, this.current), call, cancelled: false };
    let index = this.appointments.length;
    while (index > 0 && (this.appointments[index - 1]?.at ?? 0) > appointment.at) index--;
    this.appointments.splice(index, 0, appointment);
    return appointment;
  }

  after(delay: number, call: () => void): Appointment {
    return this.at(this.current + delay, call);
  }

  /** Goes on to the next call and makes it; `before` sees the time that has passed. False when none is left. */
  async step(before: () => void): Promise<boolean> {
    const appointment = this.next === undefined ? undefined : this.appointments.shift();
    if (!appointment) return false;
    this.current = appointment.at;
    before();
    appointment.call();
    await settle();
    return true;
  }

  /** Lets time pass in which nothing is due. */
  skip(duration: number): void {
    this.current += duration;
  }
}
