import type { SharedTerms } from './grant.js';
import { turnAfter } from './turn-name.js';

/** What an instance's place in a queue says: who waits, with which claim lease, wanting how many tokens. */
export interface Place {
  readonly instance: string;
  /** Milliseconds of the lease of a grant by hand-off. */
  readonly claimTtl: number;
  /** Fencing tokens, or shared holds. */
  readonly tokens: number;
  /** Of a turn for shared holds. */
  readonly shared?: SharedTerms | undefined;
}

/** The form in which stores keep a place. */
export function formatPlace({ instance, claimTtl, tokens, shared }: Place): string {
  const place = `${instance}|${Math.ceil(claimTtl)}|${tokens}`;
  return shared ? `${place}|${shared.turn}|${shared.limit === Infinity ? '' : shared.limit}` : place;
}

export function parsePlace(place: string): Place {
  const [instance = place, claimTtl, tokens, turn, limit] = place.split('|');
  const shared = turn === undefined ? undefined : { turn, limit: limit ? Number(limit) : Infinity };
  return { instance, claimTtl: Number(claimTtl), tokens: Number(tokens), shared };
}

/** Where a turn waits on that a limit let have only so many holds of those that it wants; undefined where it waits no more. */
export function restOf(place: string, granted: number): string | undefined {
  const { shared, tokens, ...rest } = parsePlace(place);
  if (!shared || shared.limit === Infinity || tokens <= granted) return undefined;
  const turn = turnAfter(shared.turn, granted);
  return formatPlace({ ...rest, tokens: tokens - granted, shared: { ...shared, turn } });
}
