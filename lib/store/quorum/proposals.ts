import type { Clock } from '../../engine/clock.js';
import { NodeClock } from './node-clock.js';

/** Tokens may run ahead of the nodes' clocks by this, in microseconds, before blocks shrink to one. */
const MAX_AHEAD = 10_000;

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
 * Following the median of the clocks rather than a counter alone, tokens keep growing when counters are lost.
 */
export class Proposals {
  private readonly clocks = new Map<number, NodeClock>();
  private latest = 0;
  private highest = 0;

  constructor(private readonly clock: Clock) {}

  /** Every token that was proposed so far is at most this. */
  get highestSoFar(): number {
    return this.highest;
  }

  /** The time by the median of the nodes' clocks in microseconds; 0 before the first answer. */
  get now(): number {
    const offsets = [...this.clocks.values()].flatMap(({ offset }) => offset ?? []).toSorted((a, b) => a - b);
    const median = offsets[offsets.length >> 1];
    return median === undefined ? 0 : Math.floor(this.clock.now() * 1_000 + median);
  }

  /** A node has told its time, in microseconds, in answer to a request that was sent at `sentAt`. */
  observe(node: number, time: number, sentAt: number): void {
    const clock = this.clocks.get(node) ?? new NodeClock();
    this.clocks.set(node, clock);
    clock.observe(time, sentAt, this.clock.now());
  }

  /** A block beyond `last`. Before any node has told its time it proposes 0, which no node accepts. */
  next(last: number, tokens: number): Proposal {
    const { now } = this;
    if (now === 0) return { first: 0, last: 0 };
    // The estimate may step back, and no two proposals may be the same.
    this.latest = Math.max(now, this.latest + 1);
    const first = Math.max(this.latest, last + 1);
    const block = { first, last: first > now + MAX_AHEAD ? first : first + tokens - 1 };
    this.highest = Math.max(this.highest, block.last);
    return block;
  }
}
