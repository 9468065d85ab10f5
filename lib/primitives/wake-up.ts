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
    this.timer = this.clock.schedule(
      () => {
        this.timer = undefined;
        this.due = Infinity;
        this.ring(this.clock.now());
      },
      Math.ceil(due - this.clock.now()),
    );
  }

  clear(): void {
    this.clock.cancel(this.timer);
    this.timer = undefined;
    this.due = Infinity;
  }
}
