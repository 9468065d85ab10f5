import type { SingleConnection } from '../../options/module-options.interface.js';
import type { ClientState } from '../redis/connection/redis-client.js';
import { ScriptBatch } from '../redis/script-batch.js';
import { EndpointTopology } from '../redis/endpoint.topology.js';
import type { RedisStoreSettings } from '../redis/topology.js';
import type { LuaScript } from '../scripts/lua-script.js';
import { NotAsked, type QuorumNode, type RequestKind } from './quorum-node.js';

type Args = readonly (string | number)[];

/** States in which a client knows that its server is unreachable. */
const AWAY: ReadonlySet<ClientState> = new Set(['reconnecting', 'ended']);

/**
 * Maximum number of unanswered requests of a node. Beyond it, the node receives no new ones. Requests that end holds
 * have a higher limit; beyond it, the lease ends the hold.
 */
const MAX_UNANSWERED: Readonly<Record<RequestKind, number>> = { take: 100, end: 10_000 };

export interface RedisNodeSettings extends Omit<RedisStoreSettings, 'connection' | 'layout' | 'wake'> {
  readonly connection: SingleConnection;
  readonly nodeTimeout: number;
}

/** One Redis of a quorum, and whether to send it requests. */
export class RedisNode extends EndpointTopology implements QuorumNode {
  private readonly nodeTimeout: number;
  private unanswered = 0;
  private silentSince = 0;
  private requests: { readonly script: LuaScript; readonly batch: ScriptBatch } | undefined;

  constructor({ connection, nodeTimeout, log, ...settings }: RedisNodeSettings) {
    let prefix = '';
    super(connection, {
      ...settings,
      connection,
      layout: 'quorum',
      wake: 'pubsub',
      consequence: 'Waiters may lose their place there, and ask at intervals.',
      log: {
        log: (message) => log.log(prefix + message),
        warn: (message) => log.warn(prefix + message),
        error: (message) => log.error(prefix + message),
      },
    });
    prefix = `${this.where}: `;
    this.nodeTimeout = nodeTimeout;
  }

  get where(): string {
    return this.connection.clients.where;
  }

  get clientPrefix(): string {
    return this.connection.keyPrefix;
  }

  get listening(): boolean {
    return this.inbox?.stands('') ?? false;
  }

  doubt(): void {
    this.inbox?.doubt('');
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  connect(): void {
    this.connection.connectAhead();
  }

  run(kind: RequestKind, script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    const { clock } = this.settings;
    if (kind === 'take' && AWAY.has(this.connection.commands.state))
      return Promise.reject(new NotAsked(this.trouble.message, { cause: this.trouble }));
    const now = clock.now();
    if (this.unanswered >= MAX_UNANSWERED[kind] && now - this.silentSince > this.nodeTimeout) {
      return Promise.reject(
        new NotAsked(`It has not answered ${this.unanswered} requests.`, { cause: this.trouble }),
      );
    }
    if (this.unanswered++ === 0) this.silentSince = now;
    const answer = script.takesSeveral ? this.gather(script, keys, args) : this.send(script, keys, args);
    const settle = (): void => {
      this.unanswered--;
      this.silentSince = clock.now();
    };
    answer.then(settle, settle);
    return answer;
  }

  /** Flushes requests to another script first, so that the node receives all in the order of the calls. */
  private gather(script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    if (this.requests?.script !== script) this.flush();
    if (!this.requests) {
      this.requests = {
        script,
        batch: new ScriptBatch((own) => this.runner.runWithoutTimeout(script, own.keys, own.args)),
      };
      process.nextTick(() => this.flush());
    }
    const { batch } = this.requests;
    batch.content.keys.push(...keys);
    batch.content.args.push(args.length, ...args);
    return batch.join((reply) => reply);
  }

  private flush(): void {
    this.requests?.batch.flush();
    this.requests = undefined;
  }

  private send(script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    this.flush();
    return this.runner.runWithoutTimeout(script, keys, args);
  }

  override close(): void {
    this.flush();
    super.close();
  }
}
