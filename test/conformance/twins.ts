import { type Grant, grantsIn, type Shares, type Taken } from '../../lib/store/grant.js';
import type { LockStore, ShareRequest, StoreEvents, Waiting } from '../../lib/store/lock-store.js';
import { memoryStore } from '../../lib/store/memory/memory.store.js';
import { instanceOf, isSharedOwner, permitsOf, tokenOf } from '../../lib/store/owner-id.js';
import { deliver } from '../../lib/store/redis/connection/inbox.js';
import { KeySpace } from '../../lib/store/redis/key-space.js';
import { RedisStore } from '../../lib/store/redis/redis.store.js';
import { assertEqual } from './assert-equal.js';
import { INSTANCES, NAMES, type Operation } from './operations.js';
import { ScriptTwin } from '../support/script-twin.js';
import type { SteppedRedis } from './stepped-redis.js';

jest.mock('../../lib/store/redis/endpoint.topology.js', () => ({
  EndpointTopology:
    jest.requireActual<typeof import('./stepped.topology.js')>('./stepped.topology').SteppedTopology,
}));

/** When each run begins, in milliseconds since 1970. */
const START = 1_900_000_000_000;
const CLAIM = 301;
/** Milliseconds between two operations. */
const STEP = 2;

const keySpace = new KeySpace('common', 'lock:');
const KEYS = NAMES.flatMap((name) => keySpace.keys(name));

/** The two stores of an instance. */
interface Stores {
  readonly redis: LockStore;
  readonly memory: LockStore;
}

/** A hold that was granted at some time. */
interface Hold {
  readonly name: string;
  readonly owner: string;
}

interface Place {
  readonly instance: string;
  readonly name: string;
  readonly waiting: Waiting;
}

interface SharedBid {
  readonly instance: string;
  readonly request: Omit<ShareRequest, 'endedToken'>;
}

/** Plays the same operations on the scripts and on the memory server, and compares after each. */
export class Twins {
  private readonly memory: ScriptTwin;
  private readonly stores: ReadonlyMap<string, Stores>;
  private readonly events = new Map<string, StoreEvents>();
  private readonly heard: Record<keyof Stores, string[]> = { redis: [], memory: [] };
  private holds: Hold[] = [];
  private readonly bids: SharedBid[] = [];
  private readonly places: Place[] = [];
  private readonly transfers: (Hold & { readonly to: string })[] = [];
  private readonly endedToken = new Map<string, number>();
  private readonly floors = new Map<string, number>();
  private numbered = 0;

  private constructor(private readonly redis: SteppedRedis) {
    const now = (): number => this.redis.now;
    this.memory = new ScriptTwin(now);
    this.stores = new Map(INSTANCES.map((instance) => [instance, this.storesOf(instance)]));
    for (const instance of INSTANCES) this.events.set(instance, this.listener(instance, 'redis'));
  }

  /** Plays operations one after the other; rejects at the first difference. */
  static async play(redis: SteppedRedis, operations: readonly Operation[]): Promise<void> {
    await redis.reset(START);
    const twins = new Twins(redis);
    for (const instance of INSTANCES) await twins.listen(instance, true);
    for (const [i, operation] of operations.entries()) {
      await twins.play(operation);
      await twins.compare(`operation ${i + 1}, ${operation.kind}`);
      redis.now += STEP;
    }
  }

  private async play(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'tick':
        this.redis.now += operation.ms;
        return;
      case 'listen':
        return this.listen(operation.instance, operation.listens);
      case 'acquire': {
        const { instance, name, ttl, tokens, queues, sure } = operation;
        const place = this.storeOf(instance).memory.place(CLAIM, tokens);
        if (queues) this.places.push({ instance, name, waiting: { place } });
        return this.acquire(instance, name, {
          ttl,
          tokens,
          place: queues ? place : undefined,
          endedTokenOfName: sure ? this.floors.get(instance + name) : undefined,
        });
      }
      case 'share': {
        const { instance, name, ttl, queues, limit, permits, tokens: holds, sure } = operation;
        const terms = { limit, permits };
        const since = (sure ? this.floors.get(instance + name) : undefined) ?? 0;
        const known = operation.known.flatMap((each) => {
          const hold = recent(this.holds, each);
          return hold?.name === name && instanceOf(hold.owner) === instance ? tokenOf(hold.owner) : [];
        });
        const place = queues ? this.storeOf(instance).memory.place(CLAIM, holds, terms) : undefined;
        return this.share({ instance, request: { name, ttl, terms, holds, since, known, place } });
      }
      case 'share again': {
        const bid = recent(this.bids, operation.bid);
        if (!bid) return;
        const { instance, request } = bid;
        const { queues, ttl, wanted: holds } = operation;
        const place = queues ? this.storeOf(instance).memory.place(CLAIM, holds, request.terms) : undefined;
        return this.share({ instance, request: { ...request, ttl, holds, place } });
      }
      case 'release': {
        const hold = recent(this.holds, operation.hold);
        if (!hold) return;
        if (operation.noted) this.spend(hold);
        await this.both(instanceOf(hold.owner), (store) => store.release(hold.name, hold.owner, false));
        return;
      }
      case 'lose release': {
        const hold = recent(this.holds, operation.hold);
        if (hold) this.spend(hold);
        return;
      }
      case 'extend': {
        const { holds, ttl, exact } = operation;
        const found = holds.flatMap((each) => recent(this.holds, each) ?? []);
        if (found.length === 0) return;
        await this.both(
          INSTANCES[0],
          (store) => store.extend(found.map((hold) => ({ ...hold, ttl, exact }))),
          (lasts) => lasts.map((each) => (each === 1 ? ttl : each)),
        );
        return;
      }
      case 'yield': {
        const hold = recent(this.holds, operation.hold);
        if (!hold || hasTag(hold)) return;
        const { ttl, tokens, queues } = operation;
        const instance = instanceOf(hold.owner);
        const place = this.storeOf(instance).memory.place(CLAIM, tokens);
        if (queues) this.places.push({ instance, name: hold.name, waiting: { place } });
        const request = { ...hold, ttl, tokens, place: queues ? place : undefined };
        this.learn(hold.name, instance, await this.both(instance, (store) => store.yield(request)));
        return;
      }
      case 'cancel': {
        const waiting = recent(this.places, operation.place);
        if (!waiting) return;
        const { instance, name } = waiting;
        const kept = await this.both(instance, (store) => store.cancel(name, waiting.waiting));
        for (const owner of kept) this.holds.push({ name, owner });
        return;
      }
      case 'transfer': {
        const hold = recent(this.holds, operation.hold);
        if (!hold) return;
        const tag = `${isSharedOwner(hold.owner) ? `s${permitsOf(hold.owner)}x` : 'f'}${++this.numbered}`;
        const transfer = { ...hold, to: `${operation.to}~${tag}:${tokenOf(hold.owner)}` };
        this.transfers.push(transfer);
        this.holds.push({ name: hold.name, owner: transfer.to });
        return this.transfer(transfer, operation.ttl);
      }
      case 'transfer again': {
        const transfer = recent(this.transfers, operation.transfer);
        return transfer && this.transfer(transfer, operation.ttl);
      }
      case 'force': {
        const { name, holds } = operation;
        const owners = holds?.flatMap((each) => recent(this.holds, each)?.owner ?? []);
        await this.both(INSTANCES[0], (store) => store.operations.forceRelease(name, owners));
        return;
      }
      case 'keep': {
        const hold = recent(this.holds, operation.hold);
        if (!hold) return;
        const { token, keep, releases } = operation;
        const request = { ...hold, token, keep, releases, json: String(++this.numbered) };
        await this.both(instanceOf(hold.owner), async (store) => store.marks?.keep(request));
        return;
      }
      case 'read mark':
        await this.both(INSTANCES[0], async (store) => store.marks?.read(operation.name));
        return;
      case 'delete mark':
        await this.both(INSTANCES[0], async (store) => store.marks?.delete(operation.name));
        return;
      case 'query':
        await this.both(INSTANCES[0], (store) => store.operations.query(operation.name));
        return;
      case 'send':
        await this.both(operation.from, async (store) => store.send?.(operation.to, 'a message'));
    }
  }

  private async share(bid: SharedBid): Promise<void> {
    const { instance, request } = bid;
    const { name, place, since, terms } = request;
    this.bids.push(bid);
    this.places.push({ instance, name, waiting: { place, shared: { terms, since } } });
    const endedToken = this.endedToken.get(instance) ?? 0;
    const reply = await this.both(instance, async (store) => store.share?.({ ...request, endedToken }));
    this.learn(name, instance, reply);
  }

  private async acquire(
    instance: string,
    name: string,
    terms: Omit<Parameters<LockStore['acquire']>[0], 'name' | 'endedToken'>,
  ): Promise<void> {
    const request = { ...terms, name, endedToken: this.endedToken.get(instance) ?? 0 };
    this.learn(name, instance, await this.both(instance, (store) => store.acquire(request)));
  }

  private async transfer({ name, owner, to }: Hold & { to: string }, ttl: number): Promise<void> {
    await this.both(INSTANCES[0], async (store) => store.transfer?.([{ name, from: owner, to, ttl }]));
  }

  private async listen(instance: string, listens: boolean): Promise<void> {
    await this.redis.listen(keySpace.revocations + instance, listens);
    if (listens) this.memory.inboxes.open(instance, this.listener(instance, 'memory'));
    else this.memory.inboxes.close(instance);
  }

  /** Asks both stores of an instance the same, and compares the answers. */
  private async both<T>(
    instance: string,
    ask: (store: LockStore) => Promise<T>,
    normal: (reply: T) => unknown = (reply) => reply,
  ): Promise<T> {
    const { redis, memory } = this.storeOf(instance);
    const reply = await ask(redis);
    this.memory.hasMetSharedMode = this.redis.gaveSharedKeys;
    assertEqual('reply', normal(reply), normal(await ask(memory)));
    return reply;
  }

  private async compare(moment: string): Promise<void> {
    const { content, published } = await this.redis.look(KEYS);
    for (const [channel, message] of published) {
      const instance = channel.slice(keySpace.revocations.length);
      const events = this.events.get(instance);
      if (events && this.redis.isHeard(channel)) deliver(message, instance, events, COUNTED);
    }
    const { redis, memory } = this.heard;
    assertEqual(`messages after ${moment}`, redis.splice(0), memory.splice(0));
    for (const [i, name] of NAMES.entries()) {
      const { lock = null, remaining = -2, queue = [], shared = [] } = content[i] ?? {};
      const kept = {
        alone: lock === null || lock === 'shared' ? undefined : [lock, remaining],
        shared: lock === 'shared' ? this.live(shared) : [],
        queue,
      };
      assertEqual(`${name} after ${moment}`, kept, this.memory.contentOf(name));
    }
  }

  /** Owner ids and what is left of their leases. */
  private live(shared: readonly string[]): [string, number][] {
    return shared.flatMap((owner, i): [string, number][] => {
      const left = Math.floor(Number(shared[i + 1])) - this.redis.now;
      return i % 2 === 0 && left > 0 ? [[owner, left]] : [];
    });
  }

  private learn(name: string, instance: string, reply: Grant | Taken | Shares | undefined): void {
    if (!reply) return;
    if ('tokenFloor' in reply) this.floors.set(instance + name, reply.tokenFloor);
    for (const { owner } of grantsIn(reply)) this.holds.push({ name, owner });
  }

  /** Only holds of the instance's own bids count. */
  private spend(hold: Hold): void {
    if (hasTag(hold)) return;
    const { owner } = hold;
    const instance = instanceOf(owner);
    this.endedToken.set(instance, Math.max(this.endedToken.get(instance) ?? 0, tokenOf(owner)));
  }

  private storeOf(instance: string): Stores {
    const stores = this.stores.get(instance);
    if (!stores) throw new Error(`There is no instance ${instance}.`);
    return stores;
  }

  private storesOf(instance: string): Stores {
    const redis = new RedisStore({
      connection: this.redis as never,
      keyPrefix: 'lock:',
      instance,
      commandTimeout: 2_000,
      wake: 'pubsub',
      layout: 'common',
      clock: { now: () => this.redis.now } as never,
      log: undefined as never,
    });
    return { redis, memory: memoryStore(this.memory, instance) };
  }

  private listener(instance: string, side: keyof Stores): StoreEvents {
    const note = (...what: readonly unknown[]): void => {
      this.heard[side].push(JSON.stringify([instance, ...what]));
    };
    return {
      granted: (name, grants, claimTtl) => {
        if (side === 'redis') for (const grant of grants) this.learn(name, instance, grant);
        note('granted', name, grants, claimTtl);
      },
      revoked: (name, owner) => note('revoked', name, owner),
      released: (name) => note('released', name),
      gap: (name) => note('gap', name),
      askedIfWaiting: (name, place) => note('asked', name, place),
      isInUse: () => false,
      done: (name) => note('done', name),
      told: (message) => note('told', message),
      subscribed: ignore,
      reconnected: ignore,
      unusable: ignore,
    };
  }
}

function ignore(): void {}

function hasTag({ owner }: Hold): boolean {
  return owner.includes('~');
}

const COUNTED = { receivers: 'counted', hear: (): void => undefined };

function recent<T>(list: readonly T[], which: number): T | undefined {
  return list[list.length - 1 - (which % Math.max(1, list.length))];
}
