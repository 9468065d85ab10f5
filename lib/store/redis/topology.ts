import type { Clock } from '../../primitives/clock.js';
import type {
  CredentialsProvider,
  LockConnection,
  RedisLockModuleOptions,
} from '../../options/module-options.interface.js';
import type { LockLog } from '../../diagnostics/lock-log.js';
import type { StoreEvents } from '../lock-store.js';
import type { RedisConnection } from './connection/connection.js';
import type { KeyLayout, KeySpace } from './key-space.js';
import type { Replication } from './replication.js';
import type { ScriptRunner } from './connection/script-runner.js';
import type { Receivers, TrialSettings } from './trial/trial.js';

export interface RedisStoreSettings {
  readonly connection: LockConnection | undefined;
  readonly credentials?: CredentialsProvider | undefined;
  readonly keyPrefix: string;
  /** Name of this instance, `<host>-<pid>-<random>`; part of owner ids and of its channel. */
  readonly instance: string;
  readonly commandTimeout: number;
  readonly startupChecks?: RedisLockModuleOptions['startupChecks'];
  readonly wake: 'pubsub' | 'poll';
  readonly consequence?: TrialSettings['consequence'];
  /** Layout of the keys behind one endpoint; a Cluster always keeps all keys of a name in its slot. */
  readonly layout: KeyLayout;
  readonly clock: Clock;
  readonly log: LockLog;
}

/** Where an instance receives messages. */
export interface Inbox {
  listen(name: string): void;
  /** Whether a grant of this name would currently arrive, and its sender would know. */
  canReceive(name: string): boolean;
  /** Tries whether messages of a name still arrive. */
  doubt(name: string): void;
}

/** The differences between one Redis and a Cluster. */
export interface Topology {
  readonly connection: Pick<RedisConnection, 'connectAhead' | 'ready' | 'trouble'>;
  readonly keySpace: KeySpace;
  /** Undefined without messages, and before {@link open}. */
  readonly inbox: Inbox | undefined;
  /** Whether the server counts the receivers of scripts' messages. */
  readonly receivers: Receivers;
  /** Maximum number of locks in one script call, if limited. */
  readonly maxBatch?: number | undefined;
  /** Notifies holders of a forced release, if its script cannot; undefined if it can. */
  notifyRevoked?(owners: readonly string[], name: string): Promise<void>;
  /** Runs the scripts of these keys, which are on one server. */
  runnerOf(
    keys: readonly string[],
  ): Pick<ScriptRunner, 'isIdle' | 'letMessagesLead' | 'run' | 'runWithoutTimeout'>;
  /** Identifies the server of keys, because the clocks of servers may differ. */
  serverOf(keys: readonly string[]): string;
  /** Undefined if the topology rejects `replicas`. */
  readonly replication?: Replication | undefined;
  /** Connects, and starts to report messages and interruptions. */
  open(events: StoreEvents): void;
  /** Iterates over the locked names with a prefix at every master, some at a time. */
  names(beginning: string): AsyncIterable<readonly string[]>;
  close(): void;
}
