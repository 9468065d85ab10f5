/** What scripts are told of this instance, and where a node keeps a lock. */
export class QuorumKeys {
  /** Before the name of an instance: its channel. */
  readonly channels: string;
  /** Milliseconds of a reservation: a message to the instance and its request, in the time that a node may take. */
  readonly claim: number;

  constructor(
    /** `<host>-<pid>-<random>` */
    readonly instance: string,
    private readonly keyPrefix: string,
    nodeTimeout: number,
  ) {
    this.channels = `${keyPrefix}inbox:`;
    this.claim = Math.ceil(2 * nodeTimeout);
  }

  lock(name: string): string {
    return `${this.keyPrefix}{${name}}`;
  }

  shared(name: string): string {
    return `${this.lock(name)}:s`;
  }

  of(name: string): [lock: string, queue: string, fence: string, shared: string] {
    const lock = this.lock(name);
    return [lock, `${lock}:q`, `${lock}:fence`, this.shared(name)];
  }

  /** What the query script reads. */
  shown(name: string): [lock: string, queue: string, shared: string] {
    const [lock, queue, , shared] = this.of(name);
    return [lock, queue, shared];
  }
}
