/** Names of which each hold takes several, all or none: some of the caller's own, and some that all processes share. */
export interface SeveralNames {
  readonly own: number;
  readonly shared: number;
  /** How many there are of the shared ones; a hold takes any of them. */
  readonly outOf: number;
}

/** What the callers of one load process do. Moments are milliseconds of the shared clock. */
export interface LoadPlan {
  /** All callers want one name, each wants its own, each takes one after the other of so many, or several at once. */
  readonly names: 'one' | 'own' | number | SeveralNames;
  /** The name, or what own names begin with. */
  readonly name: string;
  readonly callers: number;
  /** Milliseconds of work in each hold; with 0 the work is an empty async function. */
  readonly work: number;
  readonly startAt: number;
  /** Holds that end from here on until `stopAt` are counted; what comes before warms up. */
  readonly measureFrom: number;
  readonly stopAt: number;
  /** Whether the moments of each hold come back, for checks across processes. */
  readonly record: boolean;
}

/** What one load process saw. */
export interface LoadResult {
  /** Holds from the start to the end, warm-up included. */
  readonly holds: number;
  /** Holds of each caller that ended within the measured time. */
  readonly counted: readonly number[];
  /** How often each message of an error was seen. */
  readonly failures: Readonly<Record<string, number>>;
  /** Holds that began while another of this process was under way. */
  readonly overlaps: number;
  /** Callers that still waited long after the stop. */
  readonly stuck: number;
  /** Milliseconds for which those had waited when they were given up. */
  readonly abandoned: readonly number[];
  /** See HoldRecording; empty unless asked for. */
  readonly recording: Float64Array;
}
