import type { Clock } from '../../engine/clock.js';
import type { LockConnection } from '../../interfaces/module-options.interface.js';
import type { LockLog } from '../lock-log.js';
import type { ReplicaDemand, StoreEvents } from '../lock-store.js';
import type { Inbox } from './inbox.js';
import type { KeySpace } from './key-space.js';
import type { Confirmation, ReplicatedLease } from './replica-lane.js';
import type { Scripts } from './script-runner.js';

export interface RedisStoreSettings {
  readonly connection: LockConnection | undefined;
  readonly keyPrefix: string;
  /** Name of this instance, `<host>-<pid>-<random>`; goes into owner ids and its channel. */
  readonly instance: string;
  readonly commandTimeout: number;
  readonly wake: 'pubsub' | 'poll';
  readonly clock: Clock;
  readonly log: LockLog;
}

/** What differs between one Redis and a Cluster. */
export interface RedisSite {
  readonly keySpace: KeySpace;
  readonly scripts: Scripts;
  readonly inbox: Inbox | undefined;
  /** How many locks a script can reach at once, where that is limited. */
  readonly maxBatch: number | undefined;
  /** Why no answer comes, as far as the client knows. */
  readonly trouble: Error;
  /** Settles when commands can be sent; never, where the site is closed before. */
  ready(): Promise<void>;
  /** Extends a lease, and resolves when so many replicas have it, or have let their time pass. */
  confirm(lease: ReplicatedLease, demand: ReplicaDemand): Promise<Confirmation>;
  /** Starts to listen for messages and to tell of interruptions. */
  open(events: StoreEvents): void;
  close(): void;
}
