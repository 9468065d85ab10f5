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
  readonly held: readonly string[];
}
