import type { Clock } from '../../primitives/clock.js';
import type {
  CredentialsProvider,
  RedisLockModuleOptions,
  SingleConnection,
} from '../../options/module-options.interface.js';
import type { LuaScript } from '../scripts/lua-script.js';
import type { LockLog } from '../../diagnostics/lock-log.js';
import { RedisConnection } from '../redis/connection/connection.js';
import type { ClientState } from '../redis/connection/redis-client.js';
import { EndpointInbox } from '../redis/connection/endpoint-inbox.js';
import { ScriptRunner } from '../redis/connection/script-runner.js';
import { ScriptBatch } from '../redis/script-batch.js';
import { SingleTrial, trialKey } from '../redis/trial/single-trial.js';
import { QuorumKeys } from './quorum-keys.js';
import { type NodeEvents, NotAsked, type QuorumNode, type RequestKind } from './quorum-node.js';

type Args = readonly (string | number)[];

const RELEASED = /^released (\d+) (.*)$/s;

/** States in which a client knows that its server is unreachable. */
const AWAY: ReadonlySet<ClientState> = new Set(['reconnecting', 'ended']);

/**
 * Maximum number of unanswered requests of a node. Beyond it, the node receives no new ones. Requests that end holds
 * have a higher limit; beyond it, the lease ends the hold.
 */
const MAX_UNANSWERED: Readonly<Record<RequestKind, number>> = { take: 100, end: 10_000 };

export interface RedisNodeSettings {
  readonly connection: SingleConnection;
  readonly credentials?: CredentialsProvider | undefined;
  readonly keyPrefix: string;
  readonly instance: string;
  readonly nodeTimeout: number;
  readonly commandTimeout: number;
  readonly startupChecks?: RedisLockModuleOptions['startupChecks'];
  readonly clock: Clock;
  readonly log: LockLog;
}

/** One Redis of a quorum: its connections, and whether to send it requests. */
export class RedisNode implements QuorumNode {
  readonly label: string;
  readonly clientPrefix: string;
  private readonly connection: RedisConnection;
  private readonly scripts: ScriptRunner;
  private readonly trial: SingleTrial;
  private inbox: EndpointInbox | undefined;
  /** Number of unanswered requests. */
  private unanswered = 0;
  private silentSince = 0;
  private requests: { readonly script: LuaScript; readonly batch: ScriptBatch } | undefined;

  constructor(private readonly settings: RedisNodeSettings) {
    const { connection, clock, commandTimeout, credentials, instance, keyPrefix, log, nodeTimeout } =
      settings;
    const labelled = (message: string): string => `${this.label}: ${message}`;
    const labelledLog: LockLog = {
      log: (message) => log.log(labelled(message)),
      warn: (message) => log.warn(labelled(message)),
      error: (message) => log.error(labelled(message)),
    };
    this.connection = new RedisConnection(connection, labelledLog, credentials);
    this.label = this.connection.label;
    this.clientPrefix = this.connection.keyPrefix;
    this.scripts = new ScriptRunner(this.connection, clock, commandTimeout);
    const keys = new QuorumKeys(instance, keyPrefix, nodeTimeout);
    this.trial = new SingleTrial(this.connection, {
      scripts: this.scripts,
      key: trialKey(keys),
      channel: keys.inbox() + instance,
      where: this.label,
      consequence: 'Waiters may lose their place there, and ask at intervals.',
      messageTimeout: commandTimeout,
      startupChecks: settings.startupChecks,
      clock,
      log: labelledLog,
    });
  }

  get listening(): boolean {
    return this.inbox?.hears('') ?? false;
  }

  doubt(): void {
    this.trial.doubt();
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  connect(): void {
    this.connection.connectAhead();
  }

  open(events: NodeEvents): void {
    const { instance, keyPrefix } = this.settings;
    this.connection.connect();
    this.connection.onReady(() => events.reconnected());
    const listener = this.connection.listener();
    listener.on('message', (_channel, message) => {
      const [, last, name] = RELEASED.exec(message) ?? [];
      if (name !== undefined) events.released(name, Number(last));
    });
    // No message hands off a lock here: a grant takes a majority.
    const storeEvents = {
      ...unused,
      revoked: events.revoked.bind(events),
      told: events.told.bind(events),
      subscribed: () => events.subscribed(),
      unusable: events.unusable.bind(events),
    };
    const inboxEvents = this.trial.open(storeEvents);
    this.inbox = new EndpointInbox(listener, `${keyPrefix}inbox:${instance}`, this.settings, inboxEvents);
    this.trial.listen(this.inbox);
    this.inbox.open();
  }

  run(kind: RequestKind, script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    const { clock, nodeTimeout } = this.settings;
    if (kind === 'take' && AWAY.has(this.connection.commands.state))
      return Promise.reject(new NotAsked(this.trouble.message, { cause: this.trouble }));
    const now = clock.now();
    if (this.unanswered >= MAX_UNANSWERED[kind] && now - this.silentSince > nodeTimeout) {
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
      this.requests = { script, batch: new ScriptBatch((own) => this.call(script, own.keys, own.args)) };
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
    return this.call(script, keys, args);
  }

  private call(script: LuaScript, keys: readonly string[], args: Args): Promise<unknown> {
    this.connection.commands.cork();
    return this.scripts.runWithoutTimeout(script, keys, args);
  }

  close(): void {
    this.flush();
    this.trial.close();
    this.inbox?.close();
    this.connection.close();
  }
}

const unused = {
  askedIfWaiting: () => undefined,
  done: () => undefined,
  granted: () => undefined,
  released: () => undefined,
  gap: () => undefined,
  reconnected: () => undefined,
};
