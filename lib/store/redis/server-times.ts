import type { Clock } from '../../primitives/clock.js';
import { NodeClock } from '../node-clock.js';
import { integer } from './connection/script-reply.js';

/** Milliseconds between two readings of a server's clock; its drift in between is negligible. */
const INTERVAL = 100;

/** Share of the delay for which a formatted time is reused, because formatting takes longer than the rest. */
const REUSE = 0.02;

/** The known clock of one server. */
class ServerTime extends NodeClock {
  lookedAt = -Infinity;
  /** The last formatted time, with its creation and its delay. */
  text = '';
  toldAt = -Infinity;
  toldFor = 0;
}

/**
 * Estimates the clocks of the servers from their replies, so that a request can name its expiry. A copy that a network
 * delivers long after its connection was abandoned must not acquire a lock for which no caller waits.
 */
export class ServerTimes {
  private readonly times = new Map<string, ServerTime>();

  constructor(private readonly clock: Clock) {}

  /** A server's time after `delay` ms, in microseconds; '' while its clock is unknown. */
  in(delay: number, server: string): string {
    const known = this.times.get(server);
    if (known?.offset === undefined) return '';
    const now = this.clock.now();
    if (delay !== known.toldFor || now - known.toldAt > delay * REUSE) {
      known.text = String(Math.round((now + delay) * 1_000 + known.offset));
      known.toldAt = now;
      known.toldFor = delay;
    }
    return known.text;
  }

  /** Records a token or a time from the reply to a request of `sentAt`. Tokens follow the server's clock. */
  observe(time: () => unknown, server: string, sentAt: number): void {
    const now = this.clock.now();
    let known = this.times.get(server);
    if (!known) this.times.set(server, (known = new ServerTime()));
    if (now - known.lookedAt < INTERVAL) return;
    known.lookedAt = now;
    known.observe(integer(time()), sentAt, now);
    known.toldAt = -Infinity;
  }

  /** Corrects the estimate after a request that the server considered late. */
  correct(time: unknown, server: string, sentAt: number): void {
    this.times.delete(server);
    this.observe(() => time, server, sentAt);
  }
}
