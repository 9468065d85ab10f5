import Table from 'cli-table3';
import type { PerTopology } from '../contender/topology.js';
import type { Overlap } from './hold-statistics.js';
import type { LostGrant } from './lost-grant.js';
import type { Entry, Outcome, Stretch } from './timeline.js';

/** All that a run showed. */
export interface Report {
  readonly timeline: readonly Entry[];
  readonly holds: PerTopology<number>;
  /** Milliseconds without a grant, while processes took the locks again and again. */
  readonly longestGap: PerTopology<number>;
  readonly overlaps: PerTopology<readonly Overlap[]>;
  readonly lostGrant: LostGrant;
}

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  granted: 'yes',
  refused: 'NO',
  waited: 'is held',
};

/** The timeline, for a reader: what could be locked after each event, holds, longest gap, two holders at once. */
export function table({ timeline, holds, longestGap, overlaps }: Report): string {
  const columns = ['can be locked', 'holds', 'gap ms', '2 at once'];
  const result = new Table({
    head: ['s', 'event', ...columns.map((name) => `S: ${name}`), ...columns.map((name) => `Q: ${name}`)],
    colAligns: ['right', 'left', 'left', 'right', 'right', 'right', 'left', 'right', 'right', 'right'],
    colWidths: [null, 36],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { at, event, sentinel, quorum } of timeline) {
    result.push([seconds(at), event, ...cells(sentinel), ...cells(quorum)]);
  }
  result.push([
    '',
    'in all',
    ...['', holds.sentinel, Math.round(longestGap.sentinel), overlaps.sentinel.length],
    ...['', holds.quorum, Math.round(longestGap.quorum), overlaps.quorum.length],
  ]);
  return result.toString();
}

/** What the two holders were told. */
export function conclusion({ lostGrant, overlaps }: Report): string {
  const { tokens, withReplica } = lostGrant;
  const [overlap] = overlaps.sentinel;
  return [
    'S is Sentinel (a master, two replicas, three sentinels), Q is the quorum of five.',
    overlap
      ? `Sentinel: two holders at once for ${Math.round(overlap.lasted)} ms, until the database refused the first one by its token:`
      : 'Sentinel: no two holders at once.',
    `  tokens ${tokens.sentinel.join(' < ')}`,
    `  An acquire with replicas: { min: 1 } instead was ${withReplica === 'granted' ? 'granted' : `refused: ${withReplica}`}.`,
    'Quorum: the second holder was granted after the first one had released:',
    `  tokens ${tokens.quorum.join(' < ')}`,
  ].join('\n');
}

/** An event as it happens. */
export function line(event: string, at: number): string {
  return `${seconds(at).padStart(6)} s  ${event}`;
}

function cells({ outcome, holds, longestGap, overlaps }: Stretch): (string | number)[] {
  return [OUTCOMES[outcome], holds, Math.round(longestGap), overlaps];
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1);
}
