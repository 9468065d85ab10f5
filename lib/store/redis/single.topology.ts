import type { SingleConnection } from '../../options/module-options.interface.js';
import { EndpointInbox } from './connection/endpoint-inbox.js';
import type { Inbox, InboxEvents } from './connection/inbox.js';
import { ScriptRunner } from './connection/script-runner.js';
import { EndpointTopology } from './endpoint.topology.js';
import { SingleKeySpace } from './key-space.js';
import { Replication } from './replicas/replication.js';
import { scanNames } from './scan-names.js';
import type { Topology, RedisStoreSettings } from './topology.js';
import type { SingleTrial } from './trial/single-trial.js';

/** A single Redis. */
export class SingleTopology extends EndpointTopology implements Topology {
  readonly keySpace: SingleKeySpace;
  readonly scripts: ScriptRunner;
  protected readonly trial: SingleTrial;
  readonly replication: Replication;
  private readonly channel: string;

  constructor(connection: SingleConnection | undefined, settings: RedisStoreSettings) {
    super(connection, settings);
    const { clock, commandTimeout, instance, keyPrefix, wake } = settings;
    this.keySpace = new SingleKeySpace(keyPrefix, this.connection.keyPrefix, wake);
    this.scripts = new ScriptRunner(this.connection, clock, commandTimeout);
    this.replication = new Replication(this.connection, clock, commandTimeout);
    this.channel = this.keySpace.inbox() + instance;
    this.trial = this.newTrial(this.scripts, { key: this.keySpace.unused, channel: this.channel });
  }

  names(beginning: string): AsyncIterable<readonly string[]> {
    const { keySpace, scripts } = this;
    const { before, unused } = keySpace;
    return scanNames({ run: scripts.run.bind(scripts), keys: [unused], before }, beginning);
  }

  protected newInbox(events: InboxEvents): Inbox {
    return new EndpointInbox(this.connection.listener(), this.channel, this.settings, events);
  }
}
