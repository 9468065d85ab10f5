import type { SingleConnection } from '../../../options/module-options.interface.js';
import { instanceOf } from '../../owner-id.js';
import { commandScript } from '../../scripts/command.script.js';
import type { RedisConnection } from '../connection/connection.js';
import { EndpointInbox } from '../connection/endpoint-inbox.js';
import type { Inbox, InboxEvents } from '../connection/inbox.js';
import { type RunArguments, ScriptRunner, type Scripts } from '../connection/script-runner.js';
import { slotOf } from '../connection/slot-of.js';
import { EndpointTopology } from '../endpoint.topology.js';
import { PerNameKeySpace } from '../key-space.js';
import type { Topology, RedisStoreSettings } from '../topology.js';
import type { SingleTrial } from '../trial/single-trial.js';

/** Many shards behind one endpoint that looks like one Redis. A request reaches one slot, as on a Cluster. */
export class PerNameTopology extends EndpointTopology implements Topology {
  readonly keySpace: PerNameKeySpace;
  readonly scripts: SlotScripts;
  readonly maxBatch = 1;
  protected readonly trial: SingleTrial;

  constructor(connection: SingleConnection | undefined, settings: RedisStoreSettings) {
    super(connection, settings);
    const { clock, commandTimeout, instance, keyPrefix, wake } = settings;
    this.keySpace = new PerNameKeySpace(keyPrefix, this.connection.keyPrefix, wake);
    const runner = new ScriptRunner(this.connection, clock, commandTimeout);
    this.scripts = new SlotScripts(this.connection, runner);
    const name = this.keySpace.nameOf(instance);
    this.trial = this.newTrial(this.scripts, { name, ...this.keySpace.ownInbox(instance) });
  }

  /**
   * Notifies each instance by a message in its own slot. If a message is lost, the holder learns of it at its next
   * renewal.
   */
  async notifyRevoked(owners: readonly string[], name: string): Promise<void> {
    if (this.settings.wake === 'poll') return;
    await Promise.allSettled(
      owners.map((owner) => {
        const message = this.keySpace.messageTo(instanceOf(owner), `revoked ${owner} ${name}`);
        return this.scripts.run(commandScript, ...message);
      }),
    );
  }

  /** Never called, because `list()` is rejected before. */
  names(): never {
    throw new Error("No request reaches all shards with advanced.layout: 'per-name'.");
  }

  protected newInbox(events: InboxEvents): Inbox {
    const { connection, keySpace, settings } = this;
    const channelOf = (name: string): string => keySpace.inbox(keySpace.lock(name)) + settings.instance;
    return new EndpointInbox(connection.listener(), channelOf, settings, events);
  }
}

/** Runs scripts through one endpoint with several servers behind it. Each script has keys of one slot only. */
export class SlotScripts implements Scripts {
  readonly isIdle = true;

  constructor(
    private readonly connection: RedisConnection,
    private readonly runner: ScriptRunner,
  ) {}

  run(...call: RunArguments): Promise<unknown> {
    this.connection.commands.cork();
    return this.runner.run(...call);
  }

  runWithoutTimeout(...call: RunArguments): Promise<unknown> {
    this.connection.commands.cork();
    return this.runner.runWithoutTimeout(...call);
  }

  serverOf([key = '']: readonly string[]): string {
    return String(slotOf(this.connection.keyPrefix + key));
  }
}
