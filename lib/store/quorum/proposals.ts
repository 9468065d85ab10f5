import type { Clock } from '../../primitives/clock.js';
import { blockSize } from '../block-size.js';
import { NodeClock } from '../node-clock.js';

/** Further ahead of the nodes' clocks than this, in microseconds, proposals are only where these clocks were set back. */
const MAX_AHEAD = 1_000_000;

/** When a request was sent: the local time in milliseconds, and how often the machine had slept by then. */
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
 * Proposes fencing tokens: the nodes' time in microseconds, estimated from their answers, or more where the nodes
 * have accepted more. All nodes are asked for the same token, so what a majority accepts is known to a majority at
 * once, and needs no second trip to be written back.
 *
 * Following the median of the clocks rather than a counter alone, tokens keep growing when counters are lost. When the
 * local clock may have jumped, the nodes are asked for their time anew, since nobody knows what has passed there.
 */
export class Proposals {
  private readonly clocks = new Map<number, NodeClock>();
  private median: number | undefined;
  private sleeps = 0;
  private latest = 0;

  constructor(private readonly clock: Clock) {}

  /** The time by the median of the nodes' clocks in microseconds; 0 while that is not known. */
  get now(): number {
    const now = this.localTime();
    this.median ??= this.medianOffset();
    return this.median === undefined ? 0 : Math.floor(now * 1_000 + this.median);
  }

  /** A request leaves now. */
  sending(): Sending {
    return { at: this.localTime(), sleeps: this.sleeps };
  }

  /** A node has told its time, in microseconds, in answer to a request. */
  observe(node: number, time: number, { at, sleeps }: Sending): void {
    const now = this.localTime();
    if (sleeps !== this.sleeps) return;
    const clock = this.clocks.get(node) ?? new NodeClock();
    this.clocks.set(node, clock);
    clock.observe(time, at, now);
    this.median = undefined;
  }

  /** A block beyond `last`. While no node has told its time it proposes 0, which no node accepts. */
  next(last: number, tokens: number): Proposal {
    const { now } = this;
    if (now === 0) return { first: 0, last: 0 };
    // The estimate may step back a little, and no two proposals may be the same; only names that have a greater one go beyond.
    this.latest = this.latest < now + MAX_AHEAD ? Math.max(now, this.latest + 1) : now;
    const first = Math.max(this.latest, last + 1);
    return { first, last: first + blockSize(tokens, first - 1 - now) - 1 };
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
