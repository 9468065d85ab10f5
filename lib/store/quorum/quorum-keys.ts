import { KeySpace } from '../redis/key-space.js';

/** What scripts are told of this instance, and where a node keeps a lock: with the counter of its tokens beside it. */
export class QuorumKeys extends KeySpace {
  /** Milliseconds of a reservation: a message to the instance and its request, in the time that a node may take. */
  readonly claimTtl: number;

  constructor(
    /** `<host>-<pid>-<random>` */
    readonly instance: string,
    keyPrefix: string,
    nodeTimeout: number,
  ) {
    super(keyPrefix, '', 'pubsub');
    this.claimTtl = Math.ceil(2 * nodeTimeout);
  }

  inbox(): string {
    return this.revocations;
  }

  fence(lock: string): string {
    return `${lock}:fence`;
  }

  of(name: string): [lock: string, queue: string, fence: string, shared: string] {
    const [lock, queue, shared] = this.keys(name);
    return [lock, queue, this.fence(lock), shared];
  }
}
