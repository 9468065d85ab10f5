import type { Clock } from '../../primitives/clock.js';
import { blockSize } from '../grant.js';
import { NodeClock } from '../node-clock.js';

/** Maximum lead of proposals over the nodes' clocks, in microseconds; more means that these clocks were set back. */
const MAX_AHEAD = 1_000_000;

/** The sending of a request: the local time in milliseconds, and the number of suspends so far. */
export interface Sending {
  readonly at: number;
  readonly sleeps: number;
}

/** Tokens `first` to `last`, proposed for one hold after the other. */
export interface Proposal {
  readonly first: number;
  readonly last: number;
}

/**
 * Proposes fencing tokens: the nodes' time in microseconds, estimated from their replies, or one more than the greatest
 * accepted token. All nodes receive the same token, so a majority knows an accepted token at once, without a second
 * trip.
 *
 * Because tokens follow the median of the clocks, they keep growing when counters are lost. After a possible jump of
 * the local clock, the estimate is discarded, and the nodes are asked for their time.
 */
export class Proposals {
  private readonly clocks = new Map<number, NodeClock>();
  private median: number | undefined;
  private sleeps = 0;
  private latest = 0;

  constructor(
    private readonly clock: Clock,
    /** Milliseconds of a reply; the time in a later one may be wrong by half its trip. */
    private readonly timeout: number,
  ) {}

  /** The median of the nodes' clocks in microseconds; 0 while unknown. */
  get now(): number {
    const now = this.localTime();
    this.median ??= this.medianOffset();
    return this.median === undefined ? 0 : Math.floor(now * 1_000 + this.median);
  }

  sending(): Sending {
    return { at: this.localTime(), sleeps: this.sleeps };
  }

  /** Records a node's time, in microseconds, from the reply to a request. */
  observe(node: number, time: number, { at, sleeps }: Sending): void {
    const now = this.localTime();
    if (sleeps !== this.sleeps || now - at > this.timeout) return;
    const clock = this.clocks.get(node) ?? new NodeClock();
    this.clocks.set(node, clock);
    clock.observe(time, at, now);
    this.median = undefined;
  }

  /** Proposes a block beyond `last`. While no node's time is known, it proposes 0, which no node accepts. */
  next(last: number, tokens: number): Proposal {
    const { now } = this;
    if (now === 0) return { first: 0, last: 0 };
    // The estimate may step back a little, but no two proposals may be equal.
    const next = this.latest < now + MAX_AHEAD ? Math.max(now, this.latest + 1) : now;
    const first = Math.max(next, last + 1);
    const end = first + blockSize(tokens, first - 1 - now) - 1;
    // A name whose tokens are far ahead of the clocks takes no other name along.
    this.latest = end < now + MAX_AHEAD ? end : next;
    return { first, last: end };
  }

  private localTime(): number {
    const now = this.clock.now();
    if (this.sleeps !== this.clock.sleeps) {
      this.sleeps = this.clock.sleeps;
      this.clocks.clear();
      this.median = undefined;
    }
    return now;
  }

  private medianOffset(): number | undefined {
    const offsets = [...this.clocks.values()].flatMap(({ offset }) => offset ?? []).toSorted((a, b) => a - b);
    return offsets[offsets.length >> 1];
  }
}
