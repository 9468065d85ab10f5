/** Calls of a turn that leave first: few enough to be answered while the rest is being written. */
const FIRST = 4;

/**
 * Has what is sent in one turn of the event loop leave in two writes.
 *
 * node-redis writes all that was sent in a turn at its end, and a server answers at once what came at once. With many calls
 * under way each side would only work while the other waits.
 */
export class SplitTurn {
  /** Of this turn. */
  private calls = 0;
  private rest: (() => void)[] = [];

  /** Calls are made in the order in which they come here. */
  send<Reply>(call: () => Promise<Reply>): Promise<Reply> {
    this.calls += 1;
    if (this.calls > FIRST) return new Promise((resolve) => this.rest.push(() => resolve(call())));
    const reply = call();
    // After the call: what node-redis does at the end of this turn comes first.
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
