import type { Clock } from '../../engine/clock.js';
import type { LockInfo, LockSnapshot } from '../../interfaces/lock.interface.js';
import type { LockConnection } from '../../interfaces/module-options.interface.js';
import { acquireScript } from '../../scripts/acquire.script.js';
import { cancelScript } from '../../scripts/cancel.script.js';
import { extendScript } from '../../scripts/extend.script.js';
import { forceReleaseScript } from '../../scripts/force-release.script.js';
import { queryScript } from '../../scripts/query.script.js';
import { releaseScript } from '../../scripts/release.script.js';
import { yieldScript } from '../../scripts/yield.script.js';
import type { LockLog } from '../lock-log.js';
import type {
  AcquireRequest,
  Extension,
  Grant,
  LockStore,
  StoreEvents,
  Taken,
  YieldRequest,
} from '../lock-store.js';
import { formatPlace, parsePlace } from '../place.js';
import { RedisConnection } from './connection.js';
import { Inbox } from './inbox.js';
import { ScriptRunner } from './script-runner.js';

export interface RedisStoreSettings {
  readonly connection: LockConnection | undefined;
  readonly keyPrefix: string;
  /** Name of this instance, `<host>-<pid>-<random>`; goes into owner ids and its channel. */
  readonly instance: string;
  readonly commandTimeout: number;
  readonly clock: Clock;
  readonly log: LockLog;
}

/** An integer of a reply; a client with `stringNumbers` gives it as text. */
type Int = number | string;

/** `[1, token, tokens]` or `[0, remaining, owner, mark]`; from yield also `[-1]`. */
type AcquireReply = [outcome: Int, tokenOrRemaining: Int, tokensOrOwner: Int, mark: Int];

/** Locks on one Redis. */
export class RedisStore implements LockStore {
  private readonly connection: RedisConnection;
  private readonly scripts: ScriptRunner;
  private readonly channels: string;
  private readonly fence: string;
  private inbox: Inbox | undefined;
  private stopListening: (() => void) | undefined;

  constructor(private readonly settings: RedisStoreSettings) {
    const { connection, clock, commandTimeout, keyPrefix, log } = settings;
    this.connection = new RedisConnection(connection, log);
    this.scripts = new ScriptRunner(this.connection, clock, commandTimeout);
    this.channels = `${keyPrefix}inbox:`;
    this.fence = `${keyPrefix}fence`;
  }

  open(events: StoreEvents): void {
    const { instance, log } = this.settings;
    const { commands } = this.connection;
    const reconnected = (): void => events.reconnected();
    commands.on('ready', reconnected);
    this.stopListening = () => commands.off('ready', reconnected);
    this.inbox = new Inbox(this.connection.listener(), this.channels + instance, instance, events, log);
    void this.inbox.listen();
  }

  get canQueue(): boolean {
    return this.inbox?.open ?? false;
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  place(claim: number, tokens: number): string {
    return formatPlace({ instance: this.settings.instance, claim, tokens });
  }

  async acquire({ name, ttl, tokens, place = '', spent }: AcquireRequest): Promise<Grant | Taken> {
    const args = [this.settings.instance, Math.ceil(ttl), tokens, place, spent, this.channels, name];
    return this.reply(await this.scripts.runPatiently<AcquireReply>(acquireScript, this.keys(name), args));
  }

  async yield({ name, owner, ttl, tokens, place = '' }: YieldRequest): Promise<Grant | Taken | undefined> {
    const args = [owner, Math.ceil(ttl), tokens, place, this.channels, name];
    const reply = await this.scripts.runPatiently<AcquireReply>(yieldScript, this.keys(name), args);
    if (Number(reply[0]) === -1) return undefined;
    return this.reply(reply);
  }

  async release(name: string, owner: string): Promise<boolean> {
    return isOne(await this.scripts.run<Int>(releaseScript, this.keys(name), [owner, this.channels, name]));
  }

  async extend(batch: readonly Extension[]): Promise<readonly boolean[]> {
    const keys = batch.map(({ name }) => this.lockKey(name));
    const args = batch.flatMap(({ owner, ttl, exact }) => [owner, `${exact ? '=' : ''}${Math.ceil(ttl)}`]);
    const reply = await this.scripts.run<Int[]>(extendScript, keys, args);
    return reply.map(isOne);
  }

  async cancel(name: string, place: string): Promise<string | undefined> {
    const keys = this.keys(name).slice(0, 2);
    return (
      (await this.scripts.run<string | null>(cancelScript, keys, [this.settings.instance, place])) ??
      undefined
    );
  }

  async query(name: string): Promise<LockSnapshot> {
    type Reply = [string, string, string | null, Int, string[]];
    const keys = this.keys(name).slice(0, 2);
    const [seconds, micros, owner, remaining, queue] = await this.scripts.run<Reply>(queryScript, keys, []);
    const now = Number(seconds) * 1e6 + Number(micros);
    return {
      held: owner === null ? [] : [holder(name, owner, Number(remaining))],
      pending: waiters(name, queue, now),
    };
  }

  async forceRelease(name: string): Promise<boolean> {
    return isOne(await this.scripts.run<Int>(forceReleaseScript, this.keys(name), [this.channels, name]));
  }

  close(): Promise<void> {
    this.stopListening?.();
    this.inbox?.close();
    this.connection.close();
    return Promise.resolve();
  }

  private reply(reply: AcquireReply): Grant | Taken {
    const [outcome, tokenOrRemaining, tokensOrOwner, mark] = reply;
    const number = Number(tokenOrRemaining);
    if (isOne(outcome)) {
      const owner = `${this.settings.instance}:${tokenOrRemaining}`;
      return { owner, token: number, tokens: Number(tokensOrOwner) };
    }
    return { owner: String(tokensOrOwner), remaining: number < 0 ? undefined : number, mark: Number(mark) };
  }

  private lockKey(name: string): string {
    return `${this.settings.keyPrefix}{${name}}`;
  }

  private keys(name: string): [lock: string, queue: string, fence: string] {
    const lock = this.lockKey(name);
    return [lock, `${lock}:q`, this.fence];
  }
}

function isOne(reply: Int): boolean {
  return Number(reply) === 1;
}

/** The owner id ends in the fencing token, which is the time of the grant in microseconds; foreign owners have none. */
function holder(name: string, owner: string, remaining: number): LockInfo {
  const fencingToken = Number(/:(\d{15,16})$/.exec(owner)?.[1] ?? Number.NaN);
  const lease = remaining < 0 ? {} : { remaining };
  const own = Number.isNaN(fencingToken) ? {} : { fencingToken, since: new Date(fencingToken / 1_000) };
  return { name, mode: 'exclusive', owner, ...lease, ...own };
}

function waiters(name: string, queue: readonly string[], now: number): LockInfo[] {
  return queue.flatMap((place, i) => {
    if (i % 2 === 1) return [];
    const since = Number(queue[i + 1]);
    const owner = parsePlace(place).instance;
    return [
      {
        name,
        mode: 'exclusive' as const,
        owner,
        since: new Date(since / 1_000),
        waited: (now - since) / 1_000,
      },
    ];
  });
}
