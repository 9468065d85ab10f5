import { KeySpace } from '../redis/key-space.js';

/** Keys of a node, with a token counter for each name, and the script arguments of this instance. */
export class QuorumKeys extends KeySpace {
  /** Milliseconds of a reservation: time for a message to the instance and for its request. */
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

  of(name: string): [lock: string, queue: string, fence: string] {
    const [lock, queue] = this.keys(name);
    return [lock, queue, this.fence(lock)];
  }
}
