/** Holds work up until the test lets it go on, and tells how much of it has arrived. */
export class Gate {
  arrived = 0;
  private readonly waiting: (() => void)[] = [];

  async pass(): Promise<void> {
    this.arrived += 1;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Lets the one go on that has waited longest. */
  open(): void {
    this.waiting.shift()?.();
  }
}
