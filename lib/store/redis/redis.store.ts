import type { Clock } from '../../engine/clock.js';
import type { LockSnapshot } from '../../interfaces/lock.interface.js';
import type { LockConnection } from '../../interfaces/module-options.interface.js';
import { acquireScript } from '../../scripts/acquire.script.js';
import { cancelScript } from '../../scripts/cancel.script.js';
import { extendScript } from '../../scripts/extend.script.js';
import { forceReleaseScript } from '../../scripts/force-release.script.js';
import type { LuaScript } from '../../scripts/lua-script.js';
import { queryScript } from '../../scripts/query.script.js';
import { releaseScript } from '../../scripts/release.script.js';
import { yieldScript } from '../../scripts/yield.script.js';
import type { LockLog } from '../lock-log.js';
import {
  type AcquireRequest,
  type Extension,
  type Grant,
  isGrant,
  type LockStore,
  type StoreEvents,
  StoreRefusal,
  type Taken,
  TooFewReplicas,
  type YieldRequest,
} from '../lock-store.js';
import { formatPlace } from '../place.js';
import { RedisConnection } from './connection.js';
import { Inbox } from './inbox.js';
import { type QueryReply, snapshot } from './query-reply.js';
import type { Confirmation } from './replica-lane.js';
import { Replication } from './replication.js';
import { type BatchContent, ScriptBatch } from './script-batch.js';
import { ScriptRunner } from './script-runner.js';

/** Milliseconds after which an instance that cannot be told of a grant asks again. */
const POLL_DELAY = 100;
/** The same for one that listens, in case that a message got lost. */
const MAX_REASK_DELAY = 1_000;

export interface RedisStoreSettings {
  readonly connection: LockConnection | undefined;
  readonly keyPrefix: string;
  /** Name of this instance, `<host>-<pid>-<random>`; goes into owner ids and its channel. */
  readonly instance: string;
  readonly commandTimeout: number;
  readonly wake: 'pubsub' | 'poll';
  readonly clock: Clock;
  readonly log: LockLog;
}

/** The first may carry a script along, and any may meet a busy event loop. */
const ROUND_TRIP_SAMPLES = 3;

/** An integer of a reply; a client with `stringNumbers` gives it as text. */
type Int = number | string;

/** The first token of as many as were asked for. */
type GrantedAsWanted = Int;
type Granted = [token: Int, tokens: Int];
type Waiting = [remaining: Int, owner: string, mark: Int];
type AcquireReply = GrantedAsWanted | Granted | Waiting;

type Args = readonly (string | number)[];

/** Locks on one Redis. */
export class RedisStore implements LockStore {
  private readonly connection: RedisConnection;
  private readonly scripts: ScriptRunner;
  private readonly replication: Replication;
  private readonly acquires: ScriptBatch<AcquireReply>;
  private readonly releases: ScriptBatch<Int>;
  /** Empty where nobody listens. */
  private readonly channels: string;
  private readonly fence: string;
  /** Length of what precedes `{name}` in a key as Redis sees it. */
  private readonly prefixLength: number;
  private spent = 0;
  private isFlushDue = false;
  private inbox: Inbox | undefined;
  private stopListening: (() => void) | undefined;

  constructor(private readonly settings: RedisStoreSettings) {
    const { connection, clock, commandTimeout, keyPrefix, log, wake } = settings;
    this.connection = new RedisConnection(connection, log);
    this.scripts = new ScriptRunner(this.connection, clock, commandTimeout);
    this.replication = new Replication(this.connection, clock, commandTimeout);
    this.channels = wake === 'poll' ? '' : `${keyPrefix}inbox:`;
    this.fence = `${keyPrefix}fence`;
    this.prefixLength = Buffer.byteLength(`${this.connection.commands.options.keyPrefix ?? ''}${keyPrefix}`);
    this.acquires = new ScriptBatch((content) => this.sendAcquires(content));
    this.releases = new ScriptBatch((content) => this.sendReleases(content));
  }

  open(events: StoreEvents): void {
    const { instance, log } = this.settings;
    const { commands } = this.connection;
    const reconnected = (): void => events.reconnected();
    commands.on('ready', reconnected);
    this.stopListening = () => commands.off('ready', reconnected);
    if (this.polls) return;
    this.inbox = new Inbox(this.connection.listener(), this.channels + instance, instance, events, log);
    void this.inbox.listen();
  }

  get canQueue(): boolean {
    return this.polls || (this.inbox?.open ?? false);
  }

  get reaskDelay(): number {
    return this.polls ? POLL_DELAY : MAX_REASK_DELAY;
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  place(claim: number, tokens: number): string {
    return formatPlace({ instance: this.settings.instance, claim, tokens });
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    const { name, ttl, tokens, place, spent } = request;
    this.spent = spent;
    const { keys, args } = this.acquires.content;
    const lock = this.lockKey(name);
    keys.push(lock, `${lock}:q`);
    args.push(this.terms(ttl, tokens, place));
    this.flushSoon();
    const answer = this.acquires.join((reply) => this.answer(reply, tokens));
    return request.replicas ? answer.then((reply) => this.replicated(reply, request)) : answer;
  }

  async yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    const { name, owner, ttl, tokens, place = '' } = request;
    const args = [owner, this.channels, this.prefixLength, Math.ceil(ttl), tokens, place];
    this.flush();
    const reply = await this.scripts.runPatiently<Granted | Waiting | null>(
      yieldScript,
      [this.fence, ...this.keys(name)],
      args,
    );
    return reply === null ? undefined : this.replicated(this.answer(reply, tokens), request);
  }

  release(name: string, owner: string): Promise<boolean> {
    const { keys, args } = this.releases.content;
    const lock = this.lockKey(name);
    keys.push(lock, `${lock}:q`);
    args.push(owner.slice(this.settings.instance.length + 1));
    this.flushSoon();
    return this.releases.join(isOne);
  }

  async extend(batch: readonly Extension[]): Promise<readonly Confirmation[]> {
    const here = batch.filter(({ replicas }) => !replicas);
    if (here.length === batch.length) return this.extendHere(batch);
    const [answers, confirmations] = await Promise.all([
      here.length === 0 ? [] : this.extendHere(here),
      // Those of other leases must not count as unanswered, too.
      Promise.all(batch.map((lease) => this.confirm(lease).catch(() => undefined))),
    ]);
    let next = 0;
    return batch.map(({ replicas }, i) => (replicas ? confirmations[i] : answers[next++]));
  }

  async cancel(name: string, place: string): Promise<string | undefined> {
    const args = [this.settings.instance, place];
    return (await this.run<string | null>(cancelScript, this.keys(name), args)) ?? undefined;
  }

  async query(name: string): Promise<LockSnapshot> {
    return snapshot(name, await this.run<QueryReply>(queryScript, this.keys(name), []));
  }

  async forceRelease(name: string): Promise<boolean> {
    const keys = [this.fence, ...this.keys(name)];
    return isOne(await this.run<Int>(forceReleaseScript, keys, [this.channels, this.prefixLength]));
  }

  async roundTrip(): Promise<number> {
    await this.connection.ready();
    let shortest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < ROUND_TRIP_SAMPLES; i += 1) {
      const sent = this.settings.clock.now();
      await this.query('nest-redis-lock:round-trip');
      shortest = Math.min(shortest, this.settings.clock.now() - sent);
    }
    return shortest;
  }

  close(): Promise<void> {
    this.flush();
    this.stopListening?.();
    this.inbox?.close();
    this.connection.close();
    return Promise.resolve();
  }

  /** What was asked for in this tick goes first, so that Redis meets everything in the order in which it was asked for. */
  private run<T>(script: LuaScript, keys: readonly string[], args: Args): Promise<T> {
    this.flush();
    return this.scripts.run(script, keys, args);
  }

  private flushSoon(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    process.nextTick(() => {
      this.isFlushDue = false;
      this.flush();
    });
  }

  /** Releases first: an instance may ask again, in the same tick, for what it has just released. */
  private flush(): void {
    this.releases.flush();
    this.acquires.flush();
  }

  private sendAcquires({ keys, args }: BatchContent): Promise<AcquireReply[]> {
    const { instance } = this.settings;
    return this.scripts.runPatiently(
      acquireScript,
      [this.fence, ...keys],
      [instance, this.spent, this.channels, this.prefixLength, ...args],
    );
  }

  private sendReleases({ keys, args }: BatchContent): Promise<Int[]> {
    return this.scripts.run(
      releaseScript,
      [this.fence, ...keys],
      [this.settings.instance, this.channels, this.prefixLength, ...args],
    );
  }

  private answer(reply: AcquireReply, wanted: number): Grant | Taken {
    if (!Array.isArray(reply)) return this.grant(reply, wanted);
    if (reply.length === 2) return this.grant(reply[0], Number(reply[1]));
    const [remaining, owner, mark] = reply;
    return { owner, remaining: Number(remaining) < 0 ? undefined : Number(remaining), mark: Number(mark) };
  }

  /** As one word, since it is the same for most requests of a batch. */
  private terms(ttl: number, tokens: number, place: string | undefined): string {
    const member = place?.slice(this.settings.instance.length + 1) ?? '';
    return `${Math.ceil(ttl)} ${tokens} ${member}`;
  }

  private grant(token: Int, tokens: number): Grant {
    return { owner: `${this.settings.instance}:${token}`, token: Number(token), tokens };
  }

  private get polls(): boolean {
    return this.settings.wake === 'poll';
  }

  private async extendHere(batch: readonly Extension[]): Promise<readonly boolean[]> {
    const keys = batch.map(({ name }) => this.lockKey(name));
    const args = batch.flatMap((extension) => [extension.owner, leaseArgument(extension)]);
    const reply = await this.run<Int[]>(extendScript, keys, args);
    return reply.map(isOne);
  }

  /** Lets a grant count only when as many replicas know of it as have to. */
  private async replicated<T extends Grant | Taken>(
    reply: T,
    { name, ttl, replicas }: Pick<AcquireRequest, 'name' | 'ttl' | 'replicas'>,
  ): Promise<T> {
    if (!replicas || !isGrant(reply)) return reply;
    const lease = { name, owner: reply.owner, ttl, exact: false, replicas };
    const confirmation = await this.confirm(lease).catch((cause: unknown) => {
      // Unlike other refusals this one comes when the lock was granted already.
      throw cause instanceof StoreRefusal ? new TooFewReplicas(reply, replicas, { cause }) : cause;
    });
    if (confirmation) return { ...reply, replicas: replicas.min };
    if (confirmation === undefined) throw new TooFewReplicas(reply, replicas);
    throw new Error('The server that was asked for its replicas does not know of the grant.');
  }

  private async confirm(extension: Extension): Promise<Confirmation> {
    const { name, owner, replicas } = extension;
    if (!replicas) return undefined;
    return this.replication.confirm(
      { key: this.lockKey(name), owner, ttl: leaseArgument(extension) },
      replicas,
    );
  }

  private lockKey(name: string): string {
    return `${this.settings.keyPrefix}{${name}}`;
  }

  private keys(name: string): [lock: string, queue: string] {
    const lock = this.lockKey(name);
    return [lock, `${lock}:q`];
  }
}

/** How the scripts take a lease: in whole milliseconds, with `=` before them where it may get shorter. */
function leaseArgument({ ttl, exact }: Extension): string {
  return `${exact ? '=' : ''}${Math.ceil(ttl)}`;
}

function isOne(reply: Int): boolean {
  return Number(reply) === 1;
}
