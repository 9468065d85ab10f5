/** Which holds to end; left out: every hold of the name. */
export interface ForceReleaseOptions {
  /** Owner ids, as `query` shows them. Holds of other owners stay untouched. */
  readonly owners?: readonly string[] | undefined;
}

/** What `forceRelease` did to a name. */
export interface ForcedRelease {
  /** Owner ids of the holds that were ended. */
  readonly released: readonly string[];
  /** Owner ids that hold the name now. */
  readonly held: readonly string[];
}
