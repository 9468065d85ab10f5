import type { Clock } from '../../primitives/clock.js';
import type { CredentialsProvider, LockConnection } from '../../options/module-options.interface.js';
import type { LockLog } from '../../diagnostics/lock-log.js';
import type { StoreEvents } from '../lock-store.js';
import type { RedisConnection } from './connection/connection.js';
import type { Inbox } from './connection/inbox.js';
import type { KeySpace } from './key-space.js';
import type { Replication } from './replicas/replication.js';
import type { Scripts } from './connection/script-runner.js';
import type { Counting } from './trial/trial.js';

export interface RedisStoreSettings {
  readonly connection: LockConnection | undefined;
  readonly credentials?: CredentialsProvider | undefined;
  readonly keyPrefix: string;
  /** Name of this instance, `<host>-<pid>-<random>`; goes into owner ids and its channel. */
  readonly instance: string;
  readonly commandTimeout: number;
  readonly wake: 'pubsub' | 'poll';
  /** Of one endpoint; a Cluster keeps everything of a name in its slot anyway. */
  readonly layout: 'common' | 'per-name';
  readonly clock: Clock;
  readonly log: LockLog;
}

/** What differs between one Redis and a Cluster. */
export interface Topology {
  readonly connection: Pick<RedisConnection, 'connectAhead' | 'ready' | 'trouble'>;
  readonly keySpace: KeySpace;
  readonly scripts: Scripts;
  readonly inbox: Inbox | undefined;
  /** Whether the receivers of scripts' messages are counted. */
  readonly counting: Counting;
  /** How many locks a script can reach at once, where that is limited. */
  readonly maxBatch?: number;
  /** Whether a grant of this name would be heard just now, and its sender learn of it. */
  hears(name: string): boolean;
  /** Tells holders that their hold was taken away, where the script that did it cannot; left out where it can. */
  tellRevoked?(owners: readonly string[], name: string): Promise<void>;
  /** Left out where options that ask for replicas are refused. */
  readonly replication?: Replication;
  /** Connects, and starts to listen for messages and to tell of interruptions. */
  open(events: StoreEvents): void;
  /** The names that begin so and are locked, some at a time, at every master. */
  names(beginning: string): AsyncIterable<readonly string[]>;
  close(): void;
}
