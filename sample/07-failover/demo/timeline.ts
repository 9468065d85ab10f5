import { now } from '../contender/notices.interface.js';
import { type PerTopology, type Topology } from '../contender/topology.js';
import { longestGap, overlaps, type Span } from './hold-statistics.js';
import type { Journal } from './journal.js';

/**
 * What the last call for a lock within a time came to: it was granted, it was refused because too few servers
 * answered, or it still waited for the holder.
 */
export type Outcome = 'granted' | 'refused' | 'waited';

/** One topology from one event to the next. */
export interface Stretch {
  readonly outcome: Outcome;
  /** Holds granted. */
  readonly holds: number;
  /** Milliseconds. */
  readonly longestGap: number;
  /** Pairs of holders at once that began here. */
  readonly overlaps: number;
}

/** An event and what happened from then until the next one. */
export interface Entry extends PerTopology<Stretch> {
  readonly event: string;
  /** Milliseconds since the first event. */
  readonly at: number;
}

/** Events, in their order. */
export class Timeline {
  private readonly events: { readonly event: string; readonly at: number }[] = [];

  /** @param said - Called with each event as it happens, and the milliseconds since the first one. */
  constructor(
    private readonly journal: Journal,
    private readonly said: (event: string, at: number) => void,
  ) {}

  /** @param at - When it happened, by {@link now}. */
  add(event: string, at = now()): void {
    this.events.push({ event, at });
    this.said(event, at - this.start);
  }

  /** Adds an event that this brings about, as of its begin: contenders may notice it before this has ended. */
  async bringAbout<Result>(event: string, action: () => Promise<Result>): Promise<Result> {
    const at = now();
    const result = await action();
    this.add(event, at);
    return result;
  }

  /** Without the last event, after which nothing happens. */
  entries(): Entry[] {
    return this.events.slice(0, -1).map(({ event, at }, i) => {
      const span = { from: at, to: this.events[i + 1]?.at ?? at };
      return {
        event,
        at: at - this.start,
        sentinel: this.stretch('sentinel', span),
        quorum: this.stretch('quorum', span),
      };
    });
  }

  private get start(): number {
    return this.events[0]?.at ?? now();
  }

  private stretch(topology: Topology, span: Span): Stretch {
    const within = ({ at }: { readonly at: number }): boolean => span.from <= at && at < span.to;
    const all = this.journal.holdsOf(topology);
    const holds = all.filter(within);
    const refusal = this.journal.refusalsOf(topology).findLast(within);
    const began = new Set(holds.map(({ token }) => token));
    return {
      outcome: outcomeOf(holds.at(-1)?.at, refusal?.at),
      holds: holds.length,
      longestGap: longestGap(all, span),
      overlaps: overlaps(all).filter(({ second }) => began.has(second)).length,
    };
  }
}

function outcomeOf(granted = -Infinity, refused = -Infinity): Outcome {
  if (granted === refused) return 'waited';
  return granted > refused ? 'granted' : 'refused';
}
