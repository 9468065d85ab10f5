import { setTimeout as sleep } from 'node:timers/promises';

const TICK = 5;
/** Milliseconds beyond its timer that a look takes on an idle machine. */
const USUAL = 5;

/** Watches until {@link stop} for times in which the machine has no processor for this process or its server. */
export class Stalls {
  private readonly total: Promise<number>;
  private endAt = Infinity;

  /** @param ping a request to the server, if the server answers meanwhile */
  constructor(private readonly ping: () => Promise<unknown> = async () => undefined) {
    this.total = this.watch();
  }

  /**
   * Ends the watch. Resolves to the milliseconds that a timer and a request, repeated all the time, took beyond their
   * usual time.
   */
  stop(): Promise<number> {
    this.endAt = Math.min(this.endAt, performance.now());
    return this.total;
  }

  private async watch(): Promise<number> {
    let stalls = 0;
    while (this.endAt === Infinity) {
      const at = performance.now();
      await sleep(TICK, undefined, { ref: false });
      await this.pinged();
      stalls += Math.max(0, Math.min(performance.now(), this.endAt) - at - TICK - USUAL);
    }
    return stalls;
  }

  /** The server may end with the test that it is of, at a moment when it is asked. */
  private async pinged(): Promise<void> {
    try {
      await this.ping();
    } catch {
      // What is wrong with it shows in the work.
    }
  }
}
