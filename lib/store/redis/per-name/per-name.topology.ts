import type { SingleConnection } from '../../../options/module-options.interface.js';
import type { StoreEvents } from '../../lock-store.js';
import { instanceOf } from '../../owner-id.js';
import { sendScript } from '../../scripts/send.script.js';
import { RedisConnection } from '../connection/connection.js';
import { ScriptRunner } from '../connection/script-runner.js';
import { PerNameKeySpace } from '../key-space.js';
import type { Topology, RedisStoreSettings } from '../topology.js';
import { SingleTrial } from '../trial/single-trial.js';
import { type Counting, POLLED_INSTEAD } from '../trial/trial.js';
import { SlotInbox } from './slot-inbox.js';
import { SlotScripts } from './slot-scripts.js';

/**
 * Many shards behind one endpoint, which looks like one Redis and reaches one slot at a time: what a Cluster gets, over one
 * connection for scripts and one to listen.
 */
export class PerNameTopology implements Topology {
  readonly keySpace: PerNameKeySpace;
  readonly scripts: SlotScripts;
  readonly maxBatch = 1;
  inbox: SlotInbox | undefined;
  private readonly connection: RedisConnection;
  private readonly trial: SingleTrial;

  constructor(
    connection: SingleConnection | undefined,
    private readonly settings: RedisStoreSettings,
  ) {
    const { clock, commandTimeout, credentials, instance, keyPrefix, log, wake } = settings;
    this.connection = new RedisConnection(connection, log, credentials);
    const { keyPrefix: clientPrefix, label } = this.connection;
    this.keySpace = new PerNameKeySpace(keyPrefix, clientPrefix, wake);
    const runner = new ScriptRunner(this.connection, clock, commandTimeout);
    this.scripts = new SlotScripts(this.connection, runner, clientPrefix);
    this.trial = new SingleTrial(this.connection, {
      scripts: this.scripts,
      name: this.keySpace.nameOf(instance),
      ...this.keySpace.ownInbox(instance),
      where: label,
      consequence: POLLED_INSTEAD,
      patience: commandTimeout,
      clock,
      log,
    });
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  get counting(): Counting {
    return this.trial.counting;
  }

  hears(name: string): boolean {
    return this.counting === 'counted' && (this.inbox?.hears(name) ?? false);
  }

  connect(): void {
    if (!this.connection.isLazy) this.connection.connect();
  }

  ready(): Promise<void> {
    return this.connection.ready();
  }

  /** By a message to each instance in a slot of its own. One that is lost is made up for by the next renewal. */
  async tellRevoked(owners: readonly string[], name: string): Promise<void> {
    if (this.settings.wake === 'poll') return;
    await Promise.allSettled(
      owners.map((owner) => {
        const { key, channel } = this.keySpace.ownInbox(instanceOf(owner));
        return this.scripts.run(sendScript, [key], [channel, `revoked ${owner} ${name}`]);
      }),
    );
  }

  /** Options that ask for it are refused. */
  confirm(): Promise<never> {
    return Promise.reject(new Error("The option replicas does not go with layout: 'per-name'."));
  }

  /** Refused before. */
  names(): never {
    throw new Error("No request reaches all shards with layout: 'per-name'.");
  }

  open(events: StoreEvents): void {
    const { wake } = this.settings;
    this.connection.connect();
    this.connection.onReady(() => events.reconnected());
    const inboxEvents = this.trial.open(events);
    if (wake === 'poll') return;
    this.inbox = new SlotInbox(this.connection.listener(), this.keySpace, this.settings, inboxEvents);
    this.trial.listen(this.inbox);
    this.inbox.open();
  }

  close(): void {
    this.trial.close();
    this.inbox?.close();
    this.connection.close();
  }
}
