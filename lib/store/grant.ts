/** How many replicas have to know of a lease before anybody relies on it, and how many ms they have for that. */
export interface ReplicaDemand {
  readonly min: number;
  readonly timeout: number;
}

/** One turn of this instance for holds that others may have at the same time. */
export interface SharedTerms {
  /** Most holders at a time, whoever they are; Infinity where any number will do. */
  readonly limit: number;
  /** Tells this turn from all others of this instance: asked for again, it is granted the same holds. */
  readonly turn: string;
}

/** Who holds a lock that others may share: its owner ids are kept elsewhere. */
export const SHARED_OWNER = 'shared';

/** The lock of one name, given to this instance. */
export interface Grant {
  /**
   * Owner id `<instance>:<first token>`, the value under which the store keeps the lock. Of a shared grant that of its
   * first hold, `<instance>~<turn>:1`; see `ownersOf`.
   */
  readonly owner: string;
  /** The requested turn of a shared grant, which has as many holds as tokens. */
  readonly turn?: string;
  /** First fencing token of a block that is this grant's alone. */
  readonly token: number;
  /** How many tokens the block has, where nothing else is said. */
  readonly tokens: number;
  /** How many tokens the block of a shared grant has, where there are more than holds. */
  readonly block?: number;
  /** Replicas that know of it for certain; left out where none was asked. */
  readonly replicas?: number;
}

/** Somebody else has the lock. */
export interface Taken {
  readonly owner: string;
  /** Milliseconds that the holder's lease still runs; undefined where it has no end. */
  readonly remaining: number | undefined;
  /** Every fencing token of a hand-off after this answer is greater; Infinity where the store hands no lock over. */
  readonly tokenFloor: number;
}

/** One of several names that were asked for together. */
export interface TakenName extends Pick<Taken, 'owner' | 'remaining'> {
  readonly name: string;
}

export function isGrant(reply: Grant | Taken): reply is Grant {
  return 'token' in reply;
}
