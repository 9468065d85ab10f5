/** Longer than any run. */
const NEVER = 600_000;

/** How soon a lost connection to Sentinel's master is made again. */
export class Reconnection {
  private isCut = false;

  /** What ioredis asks for the milliseconds until its next attempt. */
  readonly retryStrategy = (times: number): number => (this.isCut ? NEVER : Math.min(50 * times, 1_000));

  /** From now on a lost connection stays lost: as behind a network that fails together with the master. */
  cut(): void {
    this.isCut = true;
  }
}
