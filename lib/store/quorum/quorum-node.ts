import type { StoreEvents } from '../lock-store.js';
import { KeySpace } from '../redis/key-space.js';
import type { ScriptServer } from '../redis/script-batch.js';
import type { LuaScript } from '../scripts/lua-script.js';

/** Whether a request acquires or ends a grant. */
export type RequestKind = 'take' | 'end';

/** The reason why a node received no request. */
export class NotAsked extends Error {}

/** One of the independent Redis servers of a quorum. */
export interface QuorumNode {
  /** Address for errors and logs, without credentials. */
  readonly where: string;
  /** Key prefix of its client. */
  readonly clientPrefix: string;
  /** Whether messages currently reach this instance. */
  readonly listening: boolean;
  /** Tries whether its messages still arrive. */
  doubt?(): void;
  /** Why the node does not answer, as far as the client knows. */
  readonly trouble: Error;
  /** Connects before the first lock, except with `lazyConnect`. */
  connect(): void;
  /** `released` means that the node reserved the lock for this waiting instance. */
  open(events: StoreEvents): void;
  /**
   * Runs a script. Requests reach the node in the order of the calls. Rejects at once with {@link NotAsked} if the node
   * is known to be unreachable.
   */
  run(
    kind: RequestKind,
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown>;
  close(): void;
}

/** Keys of a node, and the script arguments of this instance. */
export class QuorumKeys extends KeySpace {
  /** Milliseconds of a reservation: time for a message to the instance and for its request. */
  readonly claimTtl: number;

  constructor(
    /** `<host>-<pid>-<random>` */
    readonly instance: string,
    keyPrefix: string,
    nodeTimeout: number,
  ) {
    super('quorum', keyPrefix);
    this.claimTtl = Math.ceil(2 * nodeTimeout);
  }

  of(name: string): [lock: string, queue: string, fence: string] {
    const [lock, queue] = this.keys(name);
    return [lock, queue, this.fence(lock)];
  }

  /** Runs scripts about these keys at a node. */
  at(node: QuorumNode): ScriptServer {
    return { keySpace: this, run: (...call) => node.run('take', ...call) };
  }
}
