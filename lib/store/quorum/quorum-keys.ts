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

  of(name: string): [lock: string, queue: string, fence: string] {
    const lock = this.lock(name);
    return [lock, `${lock}:q`, `${lock}:fence`];
  }
}
