import type { Clock } from '../../../primitives/clock.js';
import {
  type RunArguments,
  type ScriptConnection,
  ScriptRunner,
  type Scripts,
} from '../connection/script-runner.js';
import { slotOf } from '../connection/slot-of.js';
import type { ClusterConnection } from './cluster-connection.js';

/**
 * Runs scripts on the nodes of a Cluster.
 *
 * Each node has its own runner, which gathers the requests of one tick into one packet and detects when that node is
 * silent. The client follows redirections, separately for each request.
 */
export class ClusterScripts implements Scripts {
  private readonly runners = new Map<string, ScriptRunner>();

  constructor(
    private readonly connection: ClusterConnection,
    private readonly clock: Clock,
    private readonly commandTimeout: number,
  ) {
    connection.onRefresh(() => this.forgetGoneNodes());
  }

  run(...call: RunArguments): Promise<unknown> {
    return this.runnerOf(call[1]).run(...call);
  }

  runWithoutTimeout(...call: RunArguments): Promise<unknown> {
    return this.runnerOf(call[1]).runWithoutTimeout(...call);
  }

  letMessagesLead(keys: readonly string[]): void {
    this.runnerOf(keys).letMessagesLead(keys);
  }

  serverOf([key = '']: readonly string[]): string {
    const { connection } = this;
    return connection.clients.ownerOf(slotOf(connection.keyPrefix + key)) ?? '';
  }

  private runnerOf(keys: readonly string[]): ScriptRunner {
    const { connection } = this;
    const address = this.serverOf(keys);
    let runner = this.runners.get(address);
    if (!runner) {
      runner = new ScriptRunner(nodeConnection(connection, address), this.clock, this.commandTimeout);
      this.runners.set(address, runner);
    }
    return runner;
  }

  /** Forgets the runners of removed nodes; their pending requests continue to wait. */
  private forgetGoneNodes(): void {
    for (const address of this.runners.keys())
      if (!this.connection.clients.node(address)) this.runners.delete(address);
  }
}

/**
 * The connection of one node: requests go through the Cluster's client, which routes them; socket and silence are those
 * of the node.
 */
function nodeConnection(connection: ClusterConnection, address: string): ScriptConnection {
  const { clients, needsText } = connection;
  return {
    needsText,
    commands: {
      evaluate: (...call) => {
        const node = clients.node(address);
        // Otherwise ioredis would connect in the caller's async context, and the socket would keep it.
        node?.connect();
        node?.cork();
        return clients.evaluate(...call);
      },
      letMessagesLead: async () => clients.node(address)?.letMessagesLead(),
    },
    get trouble() {
      return connection.trouble;
    },
    replaceSilent: () => connection.replaceSilent(address),
    problemOf: (error) => connection.problemOf(error),
  };
}
