import type { Clock } from '../../engine/clock.js';
import type { SingleConnection } from '../../interfaces/module-options.interface.js';
import type { LuaScript } from '../../scripts/lua-script.js';
import type { LockLog } from '../lock-log.js';
import { RedisConnection } from '../redis/connection.js';
import { Cork } from '../redis/cork.js';
import { SingleInbox } from '../redis/single-inbox.js';
import { ScriptRunner } from '../redis/script-runner.js';
import type { NodeEvents, QuorumNode, RequestKind } from './quorum-node.js';

const RELEASED = /^released (\d+) (.*)$/s;

/** In these states a client knows that its server cannot be reached. */
const AWAY: ReadonlySet<string> = new Set(['reconnecting', 'close', 'end']);

/**
 * How many requests a silent node may owe an answer. Beyond it nothing new is asked of it; what ends a hold
 * has a longer line, and is left to the lease at its end.
 */
const MAX_OWED: Readonly<Record<RequestKind, number>> = { take: 100, end: 10_000 };

export interface RedisNodeSettings {
  readonly connection: SingleConnection;
  readonly keyPrefix: string;
  readonly instance: string;
  readonly nodeTimeout: number;
  readonly commandTimeout: number;
  readonly clock: Clock;
  readonly log: LockLog;
}

/** One Redis of a quorum: its connections, and whether it is worth asking. */
export class RedisNode implements QuorumNode {
  readonly label: string;
  private readonly connection: RedisConnection;
  private readonly scripts: ScriptRunner;
  private readonly cork: Cork;
  private inbox: SingleInbox | undefined;
  /** Requests without an answer, and since when none has come. */
  private owed = 0;
  private silentSince = 0;

  constructor(private readonly settings: RedisNodeSettings) {
    const { connection, clock, commandTimeout, log } = settings;
    const labelled = (message: string): string => `${this.label}: ${message}`;
    this.connection = new RedisConnection(connection, {
      log: (message) => log.log(labelled(message)),
      warn: (message) => log.warn(labelled(message)),
      error: (message) => log.error(labelled(message)),
    });
    const { host, port, path } = this.connection.commands.options;
    this.label = path ?? `${host}:${port}`;
    this.cork = new Cork(() => this.connection.commands.stream);
    this.scripts = new ScriptRunner(this.connection, clock, commandTimeout);
  }

  get listening(): boolean {
    return this.inbox?.hears() ?? false;
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  open(events: NodeEvents): void {
    const { instance, keyPrefix, log } = this.settings;
    this.connection.onReady(() => events.reconnected());
    const listener = this.connection.listener();
    listener.on('message', (_channel: string, message: string) => {
      const [, last, name] = RELEASED.exec(message) ?? [];
      if (name !== undefined) events.released(name, Number(last));
    });
    // No lock is handed over by message here: a grant takes a majority.
    const storeEvents = {
      ...unused,
      revoked: events.revoked.bind(events),
      subscribed: () => events.subscribed(),
    };
    this.inbox = new SingleInbox(listener, `${keyPrefix}inbox:${instance}`, instance, storeEvents, log);
    this.inbox.open();
  }

  run<T>(
    kind: RequestKind,
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<T> {
    const { clock, nodeTimeout } = this.settings;
    if (kind === 'take' && AWAY.has(this.connection.commands.status)) return Promise.reject(this.trouble);
    const now = clock.now();
    if (this.owed >= MAX_OWED[kind] && now - this.silentSince > nodeTimeout) {
      return Promise.reject(new Error(`It has not answered ${this.owed} requests.`, { cause: this.trouble }));
    }
    if (this.owed++ === 0) this.silentSince = now;
    this.cork.hold();
    const answer = this.scripts.runPatiently<T>(script, keys, args);
    const settle = (): void => {
      this.owed--;
      this.silentSince = clock.now();
    };
    answer.then(settle, settle);
    return answer;
  }

  close(): void {
    this.inbox?.close();
    this.connection.close();
  }
}

const unused = {
  probed: () => undefined,
  granted: () => undefined,
  released: () => undefined,
  reconnected: () => undefined,
};
