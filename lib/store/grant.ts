/** The number of replicas that must confirm a lease, and their time limit in ms. */
export interface ReplicaDemand {
  readonly min: number;
  readonly timeout: number;
}

/** The terms of one turn for shared holds. */
export interface SharedTerms {
  /** Maximum number of simultaneous holders of the name; Infinity for no limit. */
  readonly limit: number;
  /** Identifies the turn within this instance: a repeated request is granted the same holds. */
  readonly turn: string;
}

/** The owner of a lock with shared holds, whose owner ids are kept in another key. */
export const SHARED_OWNER = 'shared';

/** A grant of one name to this instance. */
export interface Grant {
  /**
   * Owner id `<instance>:<first token>`, the value of the lock in the store. For a shared grant, the owner id of its
   * first hold, `<instance>~<turn>:1`; see `ownersOf`.
   */
  readonly owner: string;
  /** The requested turn of a shared grant, which has as many holds as tokens. */
  readonly turn?: string;
  /** First fencing token of this grant's block. */
  readonly token: number;
  /** Number of tokens of the block; for a shared grant, number of its holds. */
  readonly tokens: number;
  /** Number of tokens of a shared grant's block. */
  readonly block?: number;
  /** Number of replicas that confirmed the grant; undefined if none was asked. */
  readonly replicas?: number;
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

/**
 * Reads the remaining lease of a reply, which is negative for a key without expiry, and behind shared holders that have
 * all ended.
 */
export function remainingIn(left: number, owner: string): number | undefined {
  if (left >= 0) return left;
  return owner === SHARED_OWNER ? undefined : Infinity;
}

export function isGrant(reply: Grant | Taken): reply is Grant {
  return 'token' in reply;
}

/**
 * Number of fencing tokens for each hold of a shared grant: its instance passes the lease on to so many callers. More
 * would move the counter of tokens ahead of the clock.
 */
export const HOLD_TOKENS = 16;

/**
 * The size of a block of fencing tokens: up to `wanted`, at least `needed`, after a token that leads the clock by
 * `ahead` microseconds. `mint` in the scripts has the reasons.
 */
export function blockSize(wanted: number, ahead: number, needed = 1): number {
  const seconds = Math.max(0, Math.ceil((ahead - 20_000) / 1_000_000));
  return Math.max(needed, Math.min(wanted, seconds * 1_000_000 + 10_000 - ahead));
}
