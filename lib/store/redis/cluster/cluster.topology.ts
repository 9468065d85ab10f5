import type { ClusterOption } from '../../../options/connection/cluster-option.js';
import type { StoreEvents } from '../../lock-store.js';
import { KeySpace } from '../key-space.js';
import { answerWithin } from '../../../primitives/answer-within.js';
import { type Receivers, Trial } from '../trial/trial.js';
import { scanNames } from '../scan-names.js';
import type { Topology, RedisStoreSettings } from '../topology.js';
import { ClusterConnection } from './cluster-connection.js';
import { ClusterInbox } from './cluster-inbox.js';
import { ClusterScripts } from './cluster-scripts.js';

/** A Redis Cluster: a connection to each node for scripts, and a second one to each node at which callers wait. */
export class ClusterTopology implements Topology {
  readonly keySpace: KeySpace;
  readonly scripts: ClusterScripts;
  /** A script reaches one slot. Renewals of one tick still leave in one packet to each node. */
  readonly maxBatch = 1;
  inbox: ClusterInbox | undefined;
  readonly connection: ClusterConnection;
  /** By address. The instance tries each node when it begins to listen there. */
  private readonly trials = new Map<string, Trial>();
  private events: StoreEvents | undefined;

  constructor(
    connection: ClusterOption,
    private readonly settings: RedisStoreSettings,
  ) {
    const { clock, commandTimeout, credentials, keyPrefix, log, wake } = settings;
    this.connection = new ClusterConnection(connection, log, credentials);
    this.keySpace = new KeySpace('cluster', keyPrefix, this.connection.keyPrefix, wake);
    this.scripts = new ClusterScripts(this.connection, clock, commandTimeout);
  }

  /** Whether messages are counted. An untried node counts as equal to the others. */
  get receivers(): Receivers {
    let receivers: Receivers = 'untried';
    for (const trial of this.trials.values()) {
      if (trial.receivers === 'uncounted') return 'uncounted';
      if (trial.receivers === 'counted') receivers = 'counted';
    }
    return receivers;
  }

  canReceive(name: string): boolean {
    return this.inbox?.canReceive(name) ?? false;
  }

  doubt(name: string): void {
    this.inbox?.doubt(name);
  }

  async *names(beginning: string): AsyncGenerator<readonly string[], void> {
    const { connection, keySpace, scripts, settings } = this;
    connection.connect();
    await answerWithin(settings.clock, connection.ready(), settings.commandTimeout);
    const run = scripts.run.bind(scripts);
    for (const key of connection.keysOfMasters((i) => keySpace.lock(String(i))))
      yield* scanNames({ run, keys: [key], before: keySpace.before }, beginning);
  }

  open(events: StoreEvents): void {
    this.connection.connect();
    this.connection.onInterruption(() => events.reconnected());
    this.events = events;
    if (this.settings.wake === 'poll') {
      const target = { key: this.keySpace.unused, channel: '' };
      return this.trialAt(this.scripts.serverOf([target.key])).begin(() => target);
    }
    this.inbox = new ClusterInbox(this.connection, this.keySpace, this.settings, this, events);
    this.inbox.open();
  }

  close(): void {
    this.events = undefined;
    for (const trial of this.trials.values()) trial.end();
    this.inbox?.close();
    this.connection.close();
  }

  /** The trials of the node at an address. */
  trialAt(address: string): Trial {
    let trial = this.trials.get(address);
    if (!trial) {
      trial = new Trial({
        ...this.settings,
        scripts: this.scripts,
        redaction: this.connection.redaction,
        where: address,
        replace: () => this.inbox?.replaceAt(address),
        changed: () => {
          const faulty = [...this.trials.values()].find(({ fault }) => fault);
          this.events?.unusable(faulty?.fault);
          this.inbox?.handleTrialResult(address);
        },
      });
      this.trials.set(address, trial);
    }
    return trial;
  }
}
