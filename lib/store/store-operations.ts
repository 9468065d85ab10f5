import type { LockSnapshot } from './lock-snapshot.interface.js';

/** The part of a store for operators and health checks, which see and end the holds of all instances. */
export interface StoreOperations {
  query(name: string): Promise<LockSnapshot>;
  /**
   * Iterates over the held names with a prefix, some at a time. Names that are held throughout are returned, possibly
   * twice; others may be missing.
   */
  list(beginning: string): AsyncIterable<readonly LockSnapshot[]>;
  /** Ends the holds of these owner ids, or every hold if `owners` is undefined. */
  forceRelease(name: string, owners?: readonly string[]): Promise<ForcedRelease>;
  /**
   * Measures a round trip in milliseconds, when requests can be sent; does not open a connection. Undefined for stores
   * without a network.
   */
  roundTrip?(): Promise<number>;
  /** Checks for at most `timeout` ms which of several servers answer; undefined for a store with one server. */
  nodes?(timeout: number): Promise<readonly StoreNode[]>;
}

/** One of several servers behind a store. */
export interface StoreNode {
  /** Its address, without credentials. */
  readonly name: string;
  /** Why it does not answer, without credentials; undefined if it answers. */
  readonly trouble: string | undefined;
}

/** Options of a forced release. */
export interface ForceReleaseOptions {
  /** Owner ids from `query`; other holds stay. Default: every hold of the name. */
  readonly owners?: readonly string[] | undefined;
}

/** The result of a forced release. */
export interface ForcedRelease {
  /** Owner ids of the ended holds. */
  readonly released: readonly string[];
  /** Owner ids that hold the name now. */
  readonly holders: readonly string[];
}
