/** Who is inside in one process: exclusive holders alone, shared ones with others up to the limit. */
export class Occupancy {
  /** How many entered beside somebody beside whom they must not be. */
  overlaps = 0;
  private exclusive = 0;
  private shared = 0;

  constructor(private readonly limit: number) {}

  enter(isShared: boolean): void {
    if (isShared) this.shared++;
    else this.exclusive++;
    const isTooFull = isShared
      ? this.exclusive > 0 || this.shared > this.limit
      : this.exclusive + this.shared > 1;
    if (isTooFull) this.overlaps++;
  }

  leave(isShared: boolean): void {
    if (isShared) this.shared--;
    else this.exclusive--;
  }
}
