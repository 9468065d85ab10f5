import type { ClusterOption } from '../../../options/connection/cluster-option.js';
import type { StoreEvents } from '../../lock-store.js';
import { KeySpace } from '../key-space.js';
import { answerWithin } from '../../../primitives/answer-within.js';
import { type Receivers, Trial } from '../trial/trial.js';
import { scanNames } from '../scan-names.js';
import { ScriptRunner } from '../connection/script-runner.js';
import type { Topology, RedisStoreSettings } from '../topology.js';
import { ClusterConnection } from './cluster-connection.js';
import { ClusterInbox } from './cluster-inbox.js';

/**
 * A Redis Cluster: a connection to each node for scripts, and a second one to each node at which callers wait. The client
 * follows redirections, separately for each request.
 */
export class ClusterTopology implements Topology {
  readonly keySpace: KeySpace;
  /** A script reaches one slot. Renewals of one tick still leave in one packet to each node. */
  readonly maxBatch = 1;
  inbox: ClusterInbox | undefined;
  readonly connection: ClusterConnection;
  /** By address. A node is silent, or not, whatever the others are. */
  private readonly runners = new Map<string, ScriptRunner>();
  /** By address. The instance tries each node when it begins to listen there. */
  private readonly trials = new Map<string, Trial>();
  private events: StoreEvents | undefined;

  constructor(
    connection: ClusterOption,
    private readonly settings: RedisStoreSettings,
  ) {
    const { credentials, keyPrefix, log, wake } = settings;
    this.connection = new ClusterConnection(connection, log, credentials);
    this.keySpace = new KeySpace('cluster', keyPrefix, this.connection.keyPrefix, wake);
    // The pending requests of removed nodes continue to wait.
    this.connection.onRefresh(() => {
      for (const address of this.runners.keys())
        if (!this.connection.clients.node(address)) this.runners.delete(address);
      this.forgetFailedTrials();
    });
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

  runnerOf(keys: readonly string[]): ScriptRunner {
    const { connection, runners, settings } = this;
    const address = this.serverOf(keys);
    const known = runners.get(address);
    if (known) return known;
    const runner = new ScriptRunner(connection.at(address), settings.clock, settings.commandTimeout, true);
    runners.set(address, runner);
    return runner;
  }

  serverOf([key = '']: readonly string[]): string {
    return this.connection.addressOf(key);
  }

  async *names(beginning: string): AsyncGenerator<readonly string[], void> {
    const { connection, keySpace, settings } = this;
    connection.connect();
    await answerWithin(settings.clock, connection.ready(), settings.commandTimeout);
    for (const key of connection.keysOfMasters((i) => keySpace.lock(String(i))))
      yield* scanNames(
        { run: (...call) => this.runnerOf([key]).run(...call), keys: [key], before: keySpace.before },
        beginning,
      );
  }

  open(events: StoreEvents): void {
    this.connection.connect();
    this.connection.onInterruption(() => events.reconnected());
    this.events = events;
    if (this.settings.wake === 'poll') {
      const target = { key: this.keySpace.unused, channel: '' };
      return this.trialAt(this.serverOf([target.key])).begin(() => target);
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
        runnerOf: (keys) => this.runnerOf(keys),
        redaction: this.connection.redaction,
        where: address,
        replace: () => this.inbox?.replaceAt(address),
        changed: () => {
          this.reportFault();
          this.inbox?.handleTrialResult(address);
        },
      });
      this.trials.set(address, trial);
    }
    return trial;
  }

  private reportFault(): void {
    const faulty = [...this.trials.values()].find(({ fault }) => fault);
    this.events?.unusable(faulty?.fault);
  }

  /** Forgets failed trials of nodes at which no subscription belongs any more: nothing would try these nodes again. */
  private forgetFailedTrials(): void {
    // Without messages, the only trial follows its key to other nodes.
    if (!this.inbox) return;
    for (const [address, trial] of this.trials) {
      if (!trial.hasFailed || this.inbox.namedAt(address).length > 0) continue;
      trial.end();
      this.trials.delete(address);
      this.reportFault();
      this.events?.subscribed();
    }
  }
}
