/** That a caller wants a name together with others. */
export interface Together {
  /** With at most so many holders; Infinity for a reader. */
  readonly limit: number;
}

/** How a lock is measured: whatever its own interface looks like. */
export interface Contestant {
  /**
   * Waits for the lock of a name, runs the work, releases. Rejects where the lock could not be had. Only those who
   * know of holds by several take `together`.
   */
  hold(name: string, work: () => Promise<void>, together?: Together): Promise<void>;
  /** The same for several names, all or none. Left out where the package takes one name at a time. */
  holdAll?(names: readonly string[], work: () => Promise<void>): Promise<void>;
  /** Runs the work once for all callers of a name, and gives its result to each. Left out where the package cannot. */
  once?(name: string, work: () => Promise<string>): Promise<string>;
  /** Ends connections and timers. */
  close(): Promise<void> | void;
}

/** Where the Redis of a run is. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  /** With a quorum: the other servers. */
  readonly others?: readonly RedisAddress[];
}

/** The servers of a quorum, or the one there is. */
export function nodesOf({ host, port, others = [] }: RedisAddress): readonly RedisAddress[] {
  return [{ host, port }, ...others];
}

/** Of a server or a proxy, as plain values that can be sent to another process. */
export function addressOf({ host, port }: RedisAddress): RedisAddress {
  return { host, port };
}

/** What an adapter file exports as `contestant`. */
export interface ContestantDefinition {
  /** As in `--only`. */
  readonly id: string;
  /** Package whose version is printed, where there is one. */
  readonly package?: string;
  readonly kind: 'ours' | 'peer' | 'floor' | 'local';
  /** What was set and why, printed beside the figures. */
  readonly settings: string;
  /**
   * Commands that its clients send by themselves, lower case. INFO commandstats counts what scripts call as
   * well; only these are counted as requests.
   */
  readonly sends: readonly string[];
  /** Those of `sends` that its scripts call just as often: half of them are requests. */
  readonly sendsAndCalls?: readonly string[];
  /** @param lease milliseconds of a lease; by default what `settings` says */
  open(redis: RedisAddress, lease?: number): Promise<Contestant>;
}
