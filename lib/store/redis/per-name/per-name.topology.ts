import type { SingleConnection } from '../../../options/module-options.interface.js';
import { instanceOf } from '../../owner-id.js';
import { commandScript } from '../../scripts/command.script.js';
import type { RedisConnection } from '../connection/connection.js';
import type { ScriptRunner, Scripts } from '../connection/script-runner.js';
import { slotOf } from '../connection/slot-of.js';
import { EndpointTopology } from '../endpoint.topology.js';
import { PerNameKeySpace } from '../key-space.js';
import type { Topology, RedisStoreSettings } from '../topology.js';

/** Many shards behind one endpoint that looks like one Redis. A request reaches one slot, as on a Cluster. */
export class PerNameTopology extends EndpointTopology implements Topology {
  readonly maxBatch = 1;

  constructor(connection: SingleConnection | undefined, settings: RedisStoreSettings) {
    const { keyPrefix, wake } = settings;
    super(connection, settings, (opened, runner) => ({
      keySpace: new PerNameKeySpace(keyPrefix, opened.keyPrefix, wake),
      scripts: slotScripts(opened, runner),
    }));
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
}

/** Runs scripts through one endpoint with several servers behind it. Each script has keys of one slot only. */
function slotScripts({ commands, keyPrefix }: RedisConnection, runner: ScriptRunner): Scripts {
  return {
    run: (...call) => {
      commands.cork();
      return runner.run(...call);
    },
    runWithoutTimeout: (...call) => {
      commands.cork();
      return runner.runWithoutTimeout(...call);
    },
    serverOf: ([key = '']) => String(slotOf(keyPrefix + key)),
  };
}
