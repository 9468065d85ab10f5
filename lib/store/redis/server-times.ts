import type { Clock } from '../../primitives/clock.js';
import { NodeClock } from '../node-clock.js';
import { integer } from './connection/script-reply.js';

/** Milliseconds between two looks at a server's clock: what it has drifted by then is far below any time that counts. */
const INTERVAL = 100;

/** For what part of the delay a time is told again as it was: to write it out takes longer than all the rest. */
const REUSE = 0.02;

/** What is known of one server's clock. */
class ServerTime extends NodeClock {
  lookedAt = -Infinity;
  /** The time that was told last, when, and in how many milliseconds it is. */
  text = '';
  toldAt = -Infinity;
  toldFor = 0;
}

/**
 * The clocks of the servers, as far as their answers tell, so that a request can say until when it counts: a copy that a
 * network delivers when its connection was long given up must not take what nobody waits for any more.
 */
export class ServerTimes {
  private readonly times = new Map<string, ServerTime>();

  constructor(private readonly clock: Clock) {}

  /** A server's time in so many milliseconds, in microseconds; '' as long as it has not told its time. */
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

  /** Looks at a token or a time that came in answer to a request of `sentAt`. Tokens follow the server's clock. */
  observe(time: () => unknown, server: string, sentAt: number): void {
    const now = this.clock.now();
    let known = this.times.get(server);
    if (!known) this.times.set(server, (known = new ServerTime()));
    if (now - known.lookedAt < INTERVAL) return;
    known.lookedAt = now;
    known.observe(integer(time()), sentAt, now);
    known.toldAt = -Infinity;
  }

  /** A request came too late by what was known: the server's clock is another one than that. */
  correct(time: unknown, server: string, sentAt: number): void {
    this.times.delete(server);
    this.observe(() => time, server, sentAt);
  }
}
