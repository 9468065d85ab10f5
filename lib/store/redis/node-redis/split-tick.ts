/** Number of calls of a tick that leave first: few enough to be answered while the rest is written. */
const FIRST = 4;

/**
 * Splits the commands of one tick into two writes.
 *
 * node-redis writes all commands of a tick at its end, and a server answers them together. With many calls in flight,
 * each side would work only while the other waits.
 */
export class SplitTick {
  /** Number of calls in this tick. */
  private calls = 0;
  private rest: (() => void)[] = [];

  /** Sends a call; calls keep their order. */
  send<Reply>(call: () => Promise<Reply>): Promise<Reply> {
    this.calls += 1;
    if (this.calls > FIRST) return new Promise((resolve) => this.rest.push(() => resolve(call())));
    const reply = call();
    // Scheduled after the call, so that node-redis's own work at the end of this tick runs first.
    if (this.calls === 1) setImmediate(() => this.end());
    return reply;
  }

  private end(): void {
    const { rest } = this;
    this.calls = rest.length;
    if (rest.length === 0) return;
    this.rest = [];
    for (const call of rest) call();
    setImmediate(() => this.end());
  }
}
