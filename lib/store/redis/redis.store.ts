import type { LockSnapshot } from '../../interfaces/lock.interface.js';
import { isClusterConnection } from '../../options/cluster-option.js';
import { acquireScript } from '../../scripts/acquire.script.js';
import { acquireSharedScript } from '../../scripts/acquire-shared.script.js';
import { cancelScript } from '../../scripts/cancel.script.js';
import { extendScript } from '../../scripts/extend.script.js';
import { extendSharedScript } from '../../scripts/extend-shared.script.js';
import { forceReleaseScript } from '../../scripts/force-release.script.js';
import { handOverScript } from '../../scripts/hand-over.script.js';
import { handOverSharedScript } from '../../scripts/hand-over-shared.script.js';
import type { LuaScript } from '../../scripts/lua-script.js';
import { queryScript } from '../../scripts/query.script.js';
import { releaseScript } from '../../scripts/release.script.js';
import { releaseSharedScript } from '../../scripts/release-shared.script.js';
import { yieldScript } from '../../scripts/yield.script.js';
import {
  type AcquireRequest,
  type Extension,
  type Grant,
  isGrant,
  type LockStore,
  type OwnerChange,
  SHARED_OWNER,
  type SharedTerms,
  type StoreEvents,
  StoreRefusal,
  type Taken,
  TooFewReplicas,
  type YieldRequest,
} from '../lock-store.js';
import { isSharedOwner, sharedOwner } from '../owner-id.js';
import { formatPlace, parsePlace } from '../place.js';
import { ClusterSite } from './cluster/cluster.site.js';
import type { KeySpace } from './key-space.js';
import { type QueryReply, snapshot } from './query-reply.js';
import type { Confirmation } from './replica-lane.js';
import { type BatchContent, ScriptBatch } from './script-batch.js';
import { SingleSite } from './single.site.js';
import type { RedisSite, RedisStoreSettings } from './site.js';

/** Milliseconds after which an instance that cannot be told of a grant asks again. */
const POLL_DELAY = 100;

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

/** Locks on one Redis or on a Redis Cluster. */
export class RedisStore implements LockStore {
  readonly maxBatch: number | undefined;
  private readonly site: RedisSite;
  private readonly acquires: ScriptBatch<AcquireReply>;
  private readonly releases: ScriptBatch<Int>;
  private readonly sharedAcquires: ScriptBatch<Granted | Waiting>;
  private readonly sharedReleases: ScriptBatch<Int>;
  /**
   * Whether anybody is known to share a lock. From then on scripts are given the key of shared holders, too: one more
   * for each lock is felt, so those who know of no modes are spared it.
   */
  private shares = false;
  private spent = 0;
  private isFlushDue = false;

  constructor(private readonly settings: RedisStoreSettings) {
    const { connection } = settings;
    this.site = isClusterConnection(connection)
      ? new ClusterSite(connection, settings)
      : new SingleSite(connection, settings);
    this.maxBatch = this.site.maxBatch;
    this.acquires = new ScriptBatch((content) => this.sendAcquires(content), this.maxBatch);
    this.releases = new ScriptBatch((content) => this.sendReleases(content), this.maxBatch);
    this.sharedAcquires = new ScriptBatch(
      (content) => this.sendAcquires(content, acquireSharedScript),
      this.maxBatch,
    );
    this.sharedReleases = new ScriptBatch((content) => this.sendSharedReleases(content), this.maxBatch);
  }

  open(events: StoreEvents): void {
    this.site.open(events);
  }

  canQueue(name: string): boolean {
    return this.polls || (this.site.inbox?.hears(name) ?? false);
  }

  get reaskDelay(): number | undefined {
    return this.polls ? POLL_DELAY : undefined;
  }

  listen(name: string): void {
    this.site.inbox?.listen(name);
  }

  ignore(name: string): void {
    this.site.inbox?.ignore(name);
  }

  get trouble(): Error {
    return this.site.trouble;
  }

  place(claim: number, tokens: number, shared?: SharedTerms): string {
    return formatPlace({ instance: this.settings.instance, claim, tokens, shared });
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    const { name, ttl, tokens, place, spent, shared } = request;
    this.spent = spent;
    if (shared) return this.acquireShared(request, shared);
    const { keys, args } = this.acquires.content;
    this.pushKeys(keys, name);
    args.push(this.terms(ttl, tokens, place));
    this.flushSoon();
    const answer = this.acquires.join((reply) => this.answer(reply, tokens));
    return request.replicas ? answer.then((reply) => this.replicated(reply, request)) : answer;
  }

  async yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    const { name, owner, ttl, tokens, place = '' } = request;
    const keys: string[] = [];
    this.pushKeys(keys, name);
    const args = [owner, ...this.common(keys), Math.ceil(ttl), tokens, place];
    this.flush();
    const reply = await this.site.scripts.runPatiently<Granted | Waiting | null>(
      yieldScript,
      this.withFence(keys),
      args,
    );
    return reply === null ? undefined : this.replicated(this.answer(reply, tokens), request);
  }

  release(name: string, owner: string): Promise<boolean> {
    if (owner[this.settings.instance.length] !== ':') return this.releaseMarked(name, owner);
    const { keys, args } = this.releases.content;
    this.pushKeys(keys, name);
    args.push(owner.slice(this.settings.instance.length + 1));
    this.flushSoon();
    return this.releases.join((reply) => this.isReleased(reply));
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
    const keys = this.keySpace.keys(name);
    const args = [this.settings.instance, place, ...this.common(keys)];
    return (await this.run<string | null>(cancelScript, this.withFence(keys), args)) ?? undefined;
  }

  async handOver({ name, from, to, ttl }: OwnerChange): Promise<boolean> {
    this.flush();
    const args = [from, to, Math.ceil(ttl)];
    const [lock, , shared] = this.keySpace.keys(name);
    const [script, keys] = isSharedOwner(from)
      ? [handOverSharedScript, [lock, shared]]
      : [handOverScript, [lock]];
    return isOne(await this.site.scripts.runPatiently<Int>(script, keys, args));
  }

  async query(name: string): Promise<LockSnapshot> {
    return snapshot(name, await this.run<QueryReply>(queryScript, this.keySpace.keys(name), []));
  }

  async forceRelease(name: string): Promise<boolean> {
    const keys = this.keySpace.keys(name);
    const args = [...this.common(keys), this.keySpace.revocations];
    return isOne(await this.run<Int>(forceReleaseScript, this.withFence(keys), args));
  }

  async roundTrip(): Promise<number> {
    await this.site.ready();
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
    this.site.close();
    return Promise.resolve();
  }

  private acquireShared(request: AcquireRequest, { limit, turn }: SharedTerms): Promise<Grant | Taken> {
    const { name, ttl, tokens, place } = request;
    this.noteSharing();
    const { keys, args } = this.sharedAcquires.content;
    const queueing = place === undefined ? undefined : parsePlace(place);
    keys.push(...this.keySpace.keys(name));
    args.push(
      `${Math.ceil(ttl)} ${tokens} ${turn} ${limit === Infinity ? '' : limit} ` +
        (queueing ? `${queueing.claim}|${queueing.tokens}` : ''),
    );
    this.flushSoon();
    const answer = this.sharedAcquires.join((reply) => this.sharedAnswer(reply, turn));
    return request.replicas ? answer.then((reply) => this.replicated(reply, request)) : answer;
  }

  private releaseMarked(name: string, owner: string): Promise<boolean> {
    if (!isSharedOwner(owner)) return this.releaseHandedOver(name, owner);
    const { keys, args } = this.sharedReleases.content;
    keys.push(...this.keySpace.keys(name));
    args.push(owner);
    this.flushSoon();
    return this.sharedReleases.join(isOne);
  }

  /** Alone, since the requests of a call have the part of the owner id before the token in common. */
  private async releaseHandedOver(name: string, owner: string): Promise<boolean> {
    const colon = owner.lastIndexOf(':');
    const keys: string[] = [];
    this.pushKeys(keys, name);
    this.flush();
    const content = { keys, args: [owner.slice(colon + 1)] };
    const [released = 0] = await this.sendReleases(content, owner.slice(0, colon));
    return this.isReleased(released);
  }

  /** Somebody waited to share the lock, and could only be told of it. */
  private isReleased(reply: Int): boolean {
    if (Number(reply) === 2) this.noteSharing();
    return Number(reply) > 0;
  }

  /** What has been gathered has a key less for each lock. */
  private noteSharing(): void {
    if (this.shares) return;
    this.flush();
    this.shares = true;
  }

  private pushKeys(keys: string[], name: string): void {
    const lock = this.keySpace.lock(name);
    if (this.shares) keys.push(lock, `${lock}:q`, `${lock}:s`);
    else keys.push(lock, `${lock}:q`);
  }

  /** What was asked for in this tick goes first, so that Redis meets everything in the order in which it was asked for. */
  private run<T>(script: LuaScript, keys: readonly string[], args: Args): Promise<T> {
    this.flush();
    return this.site.scripts.run(script, keys, args);
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
    this.sharedReleases.flush();
    this.releases.flush();
    this.acquires.flush();
    this.sharedAcquires.flush();
  }

  private sendAcquires<Reply extends AcquireReply>(
    { keys, args }: BatchContent,
    script = acquireScript,
  ): Promise<Reply[]> {
    const { instance } = this.settings;
    return this.site.scripts.runPatiently(script, this.withFence(keys), [
      instance,
      this.spent,
      ...this.common(keys),
      ...args,
    ]);
  }

  private sendReleases({ keys, args }: BatchContent, holder = this.settings.instance): Promise<Int[]> {
    return this.site.scripts.run(releaseScript, this.withFence(keys), [
      holder,
      ...this.common(keys),
      ...args,
    ]);
  }

  private sendSharedReleases({ keys, args }: BatchContent): Promise<Int[]> {
    return this.site.scripts.run(releaseSharedScript, this.withFence(keys), [...this.common(keys), ...args]);
  }

  private sharedAnswer(reply: Granted | Waiting, turn: string): Grant | Taken {
    if (reply.length === 3) return this.taken(reply);
    const [token, tokens] = reply;
    const owner = sharedOwner(this.settings.instance, turn, 1);
    return { owner, turn, token: Number(token), tokens: Number(tokens) };
  }

  private answer(reply: AcquireReply, wanted: number): Grant | Taken {
    if (!Array.isArray(reply)) return this.grant(reply, wanted);
    if (reply.length === 2) return this.grant(reply[0], Number(reply[1]));
    return this.taken(reply);
  }

  private taken([remaining, owner, mark]: Waiting): Taken {
    if (owner === SHARED_OWNER) this.noteSharing();
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
    const shared = batch.filter(({ owner }) => isSharedOwner(owner));
    if (shared.length === 0) return this.extendAlone(batch);
    const alone = batch.filter(({ owner }) => !isSharedOwner(owner));
    const [together, others] = await Promise.all([
      this.extendShared(shared),
      alone.length === 0 ? [] : this.extendAlone(alone),
    ]);
    let [nextShared, nextAlone] = [0, 0];
    return batch.map(
      ({ owner }) => (isSharedOwner(owner) ? together[nextShared++] : others[nextAlone++]) === true,
    );
  }

  private async extendAlone(batch: readonly Extension[]): Promise<readonly boolean[]> {
    const keys = batch.map(({ name }) => this.keySpace.lock(name));
    const reply = await this.run<Int[]>(extendScript, keys, leaseArguments(batch));
    return reply.map(isOne);
  }

  private async extendShared(batch: readonly Extension[]): Promise<readonly boolean[]> {
    const keys = batch.flatMap(({ name }) => {
      const [lock, , shared] = this.keySpace.keys(name);
      return [lock, shared];
    });
    const reply = await this.run<Int[]>(extendSharedScript, keys, leaseArguments(batch));
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
    return this.site.confirm(
      {
        key: this.keySpace.lock(name),
        shared: this.keySpace.keys(name)[2],
        owner,
        ttl: leaseArgument(extension),
      },
      replicas,
    );
  }

  private get keySpace(): KeySpace {
    return this.site.keySpace;
  }

  /** The counter of these locks stands before them. */
  private withFence(keys: readonly string[]): string[] {
    return [this.keySpace.fence(keys[0] ?? ''), ...keys];
  }

  /** What a script has to know of inboxes and names. */
  private common(keys: readonly string[]): [inbox: string, prefixLength: number] {
    return [this.keySpace.inbox(keys[0] ?? ''), this.keySpace.prefixLength];
  }
}

function leaseArguments(batch: readonly Extension[]): string[] {
  return batch.flatMap((extension) => [extension.owner, leaseArgument(extension)]);
}

/** How the scripts take a lease: in whole milliseconds, with `=` before them where it may get shorter. */
function leaseArgument({ ttl, exact }: Extension): string {
  return `${exact ? '=' : ''}${Math.ceil(ttl)}`;
}

function isOne(reply: Int): boolean {
  return Number(reply) === 1;
}
