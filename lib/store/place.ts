import type { SharedTerms } from './grant.js';
import type { LockInfo } from './lock-snapshot.interface.js';
import { isSharedOwner, permitsOf, sharedTag, termsIn, tokenOf } from './owner-id.js';

/** The contents of a place in a queue: the waiting instance, its claim lease, and how much it wants. */
export interface Place {
  readonly instance: string;
  /** Milliseconds of the lease of a hand-off. */
  readonly claimTtl: number;
  /** Number of wanted fencing tokens, or of shared holds. */
  readonly wanted: number;
  /** Terms of shared holds; undefined for the exclusive lock. */
  readonly shared?: SharedTerms | undefined;
}

export function formatPlace({ instance, claimTtl, wanted, shared }: Place): string {
  const place = `${instance}|${Math.ceil(claimTtl)}|${wanted}`;
  return shared ? `${place}|${sharedTag(shared)}` : place;
}

export function parsePlace(place: string): Place {
  const [instance = place, claimTtl, wanted, tag] = place.split('|');
  const shared = tag === undefined ? undefined : termsIn(tag);
  return { instance, claimTtl: Number(claimTtl), wanted: Number(wanted), shared };
}

/** Whether two places are of the same instance, for the same terms. */
export function isSamePlace(one: string, other: string): boolean {
  const [instance, , , tag] = one.split('|');
  const [otherInstance, , , otherTag] = other.split('|');
  return instance === otherInstance && tag === otherTag;
}

/** How the instance at a place appears in a snapshot. */
export function waiterAt(place: string): Pick<LockInfo, 'mode' | 'owner' | 'permits'> {
  const { instance: owner, shared } = parsePlace(place);
  return { mode: shared ? 'shared' : 'exclusive', owner, ...severalPermits(shared?.permits) };
}

/** How a hold appears in a snapshot. Its owner id ends in the fencing token, the time of the grant in µs. */
export function holderOf(
  owner: string,
): Pick<LockInfo, 'mode' | 'owner' | 'permits' | 'since' | 'fencingToken'> {
  const fencingToken = tokenOf(owner);
  const since = new Date(fencingToken / 1_000);
  const mode = isSharedOwner(owner) ? 'shared' : 'exclusive';
  return { mode, owner, ...severalPermits(permitsOf(owner)), since, fencingToken };
}

function severalPermits(permits = 1): Pick<LockInfo, 'permits'> {
  return permits > 1 ? { permits } : {};
}

/** A place after some of its shared holds were granted; undefined if none remains. */
export function restOf(place: string, granted: number): string | undefined {
  const { wanted, ...rest } = parsePlace(place);
  return wanted > granted ? formatPlace({ ...rest, wanted: wanted - granted }) : undefined;
}
