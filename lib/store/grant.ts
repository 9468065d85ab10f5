/** The number of replicas that must confirm a lease, and their time limit in ms. */
export interface ReplicaDemand {
  readonly min: number;
  readonly timeout: number;
}

/** The terms of shared holds. */
export interface SharedTerms {
  /** Number of permits of each hold. */
  readonly permits: number;
  /** Maximum number of permits that all holders of the name have at the same time; Infinity for no limit. */
  readonly limit: number;
}

/** The owner of a lock with shared holds, whose owner ids are kept in another key. */
export const SHARED_OWNER = 'shared';

/** A grant of one name to this instance: of the exclusive lock, or of one shared hold. */
export interface Grant {
  /** Owner id, which ends in the first token. */
  readonly owner: string;
  /** First fencing token of this grant's block. */
  readonly token: number;
  /** Number of tokens of the block. */
  readonly tokens: number;
}

/** The reply for a taken lock. */
export interface Taken {
  /** Undefined if no single owner is known: several contenders of a quorum have split its votes. */
  readonly owner: string | undefined;
  /** Remaining milliseconds of the holder's lease; Infinity for a key without expiry, undefined if unknown. */
  readonly remaining: number | undefined;
  /** A number below all fencing tokens of hand-offs after this reply; Infinity if the store hands no lock over. */
  readonly tokenFloor: number;
}

/** The reply to a request for shared holds. */
export interface Shares {
  /** The holds that the store keeps for this instance, and that the request did not name: granted now or before. */
  readonly holds: readonly Grant[];
  /** A number below all fencing tokens of grants after this reply, and not below those of earlier ones. */
  readonly tokenFloor: number;
  /** Who has the lock, if fewer holds were granted than wanted. */
  readonly taken: Taken | undefined;
}

/**
 * Reads the remaining lease of a reply, which is negative for a key without expiry, and behind shared holders that have
 * all ended.
 */
export function remainingIn(left: number, owner: string): number | undefined {
  if (left >= 0) return left;
  return owner === SHARED_OWNER ? undefined : Infinity;
}

export function isGrant(reply: Grant | Taken | Shares): reply is Grant {
  return 'token' in reply;
}

export function isShares(reply: Grant | Taken | Shares): reply is Shares {
  return 'holds' in reply;
}

export function grantsIn(reply: Grant | Taken | Shares): readonly Grant[] {
  if (isShares(reply)) return reply.holds;
  return isGrant(reply) ? [reply] : [];
}

/**
 * Number of fencing tokens for each hold of a shared grant: its instance passes the lease on to so many callers. With 16,
 * permits without work took three times as many requests; more would move the counter of tokens ahead of the clock.
 */
export const HOLD_TOKENS = 64;

/**
 * The size of a block of fencing tokens: up to `wanted`, at least `needed`, after a token that leads the clock by
 * `ahead` microseconds. `mint` in the scripts has the reasons.
 */
export function blockSize(wanted: number, ahead: number, needed = 1): number {
  const seconds = Math.max(0, Math.ceil((ahead - 20_000) / 1_000_000));
  return Math.max(needed, Math.min(wanted, seconds * 1_000_000 + 10_000 - ahead));
}
