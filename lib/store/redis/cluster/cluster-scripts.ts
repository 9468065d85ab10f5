import type { Clock } from '../../../engine/clock.js';
import type { LuaScript } from '../../../scripts/lua-script.js';
import { Cork } from '../cork.js';
import { type ScriptConnection, ScriptRunner, type Scripts } from '../script-runner.js';
import { type ClusterConnection, slotOf } from './cluster-connection.js';

/**
 * Runs scripts on the nodes of a Cluster.
 *
 * There is a runner for each node: it gathers what goes there within one tick into one packet, and notices when no
 * answers come from there, while others answer. Redirections are followed by ioredis, each request's by itself.
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

  run<T>(script: LuaScript, keys: readonly string[], args: readonly (string | number)[]): Promise<T> {
    return this.runnerOf(keys).run(script, keys, args);
  }

  runPatiently<T>(
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<T> {
    return this.runnerOf(keys).runPatiently(script, keys, args);
  }

  private runnerOf([key = '']: readonly string[]): ScriptRunner {
    const { connection } = this;
    const address = connection.ownerOf(slotOf(connection.clientPrefix + key)) ?? '';
    let runner = this.runners.get(address);
    if (!runner) {
      runner = new ScriptRunner(nodeConnection(connection, address), this.clock, this.commandTimeout);
      this.runners.set(address, runner);
    }
    return runner;
  }

  /** Those that still wait for answers go on to do so. */
  private forgetGoneNodes(): void {
    for (const address of this.runners.keys())
      if (!this.connection.node(address)) this.runners.delete(address);
  }
}

/** Requests go through the Cluster's client, which knows where to; socket and silence are the node's. */
function nodeConnection(connection: ClusterConnection, address: string): ScriptConnection {
  const { cluster, redaction } = connection;
  const cork = new Cork(() => connection.node(address)?.stream);
  return {
    redaction,
    commands: {
      evalsha: (sha, keys, ...args) => {
        cork.hold();
        return cluster.evalsha(sha, keys, ...args);
      },
      eval: (lua, keys, ...args) => cluster.eval(lua, keys, ...args),
    },
    get trouble() {
      return connection.trouble;
    },
    replaceSilent: () => connection.replaceSilent(address),
    // ioredis follows the slots to their new master by itself.
    leaveIfDemoted: () => undefined,
  };
}
