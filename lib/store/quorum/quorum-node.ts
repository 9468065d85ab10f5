import type { LockConfigError } from '../../errors/lock-config.error.js';
import type { LuaScript } from '../scripts/lua-script.js';

/** What one node tells the quorum on its own. */
export interface NodeEvents {
  /** The lock was reserved there for this instance, which waited; tokens up to `last` have been accepted there. */
  released(name: string, last: number): void;
  /** The hold of `owner` was taken away by force. */
  revoked(name: string, owner: string): void;
  /** Another instance has sent a message. */
  told(message: string): void;
  /** Messages can be received (again). */
  subscribed(): void;
  /** Commands can be sent again after an interruption. */
  reconnected(): void;
  /** It cannot be used at all; undefined: it can (again). */
  unusable(reason: LockConfigError | undefined): void;
}

/** Whether a request takes something, or ends what was taken before. */
export type RequestKind = 'take' | 'end';

/** Why a node was not asked at all. */
export class NotAsked extends Error {}

/** One of the independent Redis servers of a quorum. */
export interface QuorumNode {
  /** Where it is, for errors and logs; without credentials. */
  readonly label: string;
  /** What its client puts before keys. */
  readonly clientPrefix: string;
  /** Whether messages reach this instance just now. */
  readonly listening: boolean;
  /** Why no answer comes, as far as the client knows. */
  readonly trouble: Error;
  /** Connects, unless the user wants that left to the first lock. */
  connect(): void;
  open(events: NodeEvents): void;
  /** Requests reach the node in the order of the calls. Rejects at once, with {@link NotAsked}, where it is of no use to ask. */
  run(
    kind: RequestKind,
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown>;
  close(): void;
}
