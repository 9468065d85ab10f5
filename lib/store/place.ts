import type { SharedTerms } from './grant.js';
import type { LockInfo } from './lock-snapshot.interface.js';
import { turnOf } from './owner-id.js';
import { permitsEach, turnAfter } from './turn-name.js';

/** The contents of a place in a queue: the waiting instance, its claim lease, and its wanted tokens. */
export interface Place {
  readonly instance: string;
  /** Milliseconds of the lease of a hand-off. */
  readonly claimTtl: number;
  /** Number of wanted fencing tokens, or of shared holds. */
  readonly tokens: number;
  /** Terms of a turn for shared holds. */
  readonly shared?: SharedTerms | undefined;
}

/** Formats a place for the store. */
export function formatPlace({ instance, claimTtl, tokens, shared }: Place): string {
  const place = `${instance}|${Math.ceil(claimTtl)}|${tokens}`;
  return shared ? `${place}|${shared.turn}|${shared.limit === Infinity ? '' : shared.limit}` : place;
}

export function parsePlace(place: string): Place {
  const [instance = place, claimTtl, tokens, turn, limit] = place.split('|');
  const shared = turn === undefined ? undefined : { turn, limit: limit ? Number(limit) : Infinity };
  return { instance, claimTtl: Number(claimTtl), tokens: Number(tokens), shared };
}

/** How the instance at a place appears in a snapshot. */
export function waiterAt(place: string): Pick<LockInfo, 'mode' | 'owner' | 'permits'> {
  const { instance: owner, shared } = parsePlace(place);
  return { mode: shared ? 'shared' : 'exclusive', owner, ...severalPermits(shared?.turn) };
}

/** How a shared hold appears in a snapshot. */
export function sharerOf(owner: string): Pick<LockInfo, 'mode' | 'owner' | 'permits'> {
  return { mode: 'shared', owner, ...severalPermits(turnOf(owner)) };
}

function severalPermits(turn = ''): Pick<LockInfo, 'permits'> {
  const permits = permitsEach(turn);
  return permits > 1 ? { permits } : {};
}

/** The place of the rest of a turn of which only some holds were granted; undefined if nothing remains. */
export function restOf(place: string, granted: number): string | undefined {
  const { shared, tokens, ...rest } = parsePlace(place);
  if (!shared || shared.limit === Infinity || tokens <= granted) return undefined;
  const turn = turnAfter(shared.turn, granted);
  return formatPlace({ ...rest, tokens: tokens - granted, shared: { ...shared, turn } });
}
