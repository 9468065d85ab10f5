import type { LockInfo, LockSnapshot } from '../../interfaces/lock.interface.js';
import {
  type AcquireRequest,
  type Extension,
  type Grant,
  type OwnerChange,
  SHARED_OWNER,
  type SharedTerms,
  type StoreEvents,
  type Taken,
  type YieldRequest,
} from '../lock-store.js';
import { instanceOf, isSharedOwner, ownersOf, sharedOwner, turnOf } from '../owner-id.js';
import { parsePlace, restOf } from '../place.js';
import { hadBefore, isFrom, wholeTurn } from '../turn.js';
import { MemoryShares } from './memory-shares.js';

/** The place in the queue of whoever asks, and how it takes shared holds. */
interface Own {
  readonly place: string | undefined;
  /** Returns how many are wanted beyond those. */
  take?(room: number): number;
}

interface KeptLock {
  readonly owner: string;
  readonly expiresAt: number;
}

/** Blocks shrink to one token while the last token is ahead of the clock by more than this. */
const MAX_TOKENS_AHEAD = 10_000;

/**
 * What Redis is to the Redis store, within one process: the locks, the queues and the inboxes of several instances.
 *
 * Each method does what the Lua script of the same name does, as atomically.
 *
 * @example
 * ```ts
 * const server = new MemoryLockServer();
 * const replicas = [1, 2].map(() => Test.createTestingModule({ imports: [LockTestingModule.forRoot({ server })] }));
 * ```
 */
export class MemoryLockServer {
  private readonly locks = new Map<string, KeptLock>();
  private readonly shares: MemoryShares;
  private readonly queues = new Map<string, Map<string, number>>();
  private readonly inboxes = new Map<string, StoreEvents>();
  private lastToken = 0;

  /** @param now the time in milliseconds since 1970; by default the system's, fake timers respected. */
  constructor(private readonly now: () => number = () => Date.now()) {
    this.shares = new MemoryShares(now);
  }

  /** @internal */
  subscribe(instance: string, events: StoreEvents): void {
    this.inboxes.set(instance, events);
  }

  /** @internal */
  unsubscribe(instance: string): void {
    this.inboxes.delete(instance);
  }

  /** Forgets everything, as FLUSHALL does: holders notice at their next renewal. Tokens go on growing. */
  clear(): void {
    this.locks.clear();
    this.shares.clear();
    this.queues.clear();
  }

  /** @internal */
  acquire(instance: string, request: AcquireRequest): Grant | Taken {
    const { name, ttl, tokens, place, spent, shared } = request;
    const kept = this.kept(name);
    const token = kept?.owner.startsWith(`${instance}:`)
      ? Number(kept.owner.slice(instance.length + 1))
      : Infinity;
    // The hold has ended there, and only the release went missing.
    if (token <= spent) this.locks.delete(name);
    if (shared) return this.acquireShared(instance, request, shared);
    if (kept && token > spent && token < Infinity) {
      this.prolong(name, kept, ttl);
      if (place !== undefined) this.dequeue(name, place);
      return { owner: kept.owner, token, tokens: 1 };
    }
    if (place !== undefined) this.enqueue(name, place);
    if (!this.isHeld(name)) {
      const owner = this.handOff(name, { place });
      if (!owner || owner === place) return this.grant(name, instance, ttl, tokens);
    }
    return this.taken(name);
  }

  /** @internal */
  yield({ name, owner, ttl, tokens, place }: YieldRequest): Grant | Taken | undefined {
    if (this.kept(name)?.owner !== owner) return undefined;
    this.locks.delete(name);
    if (this.handOff(name)) {
      if (place !== undefined) this.enqueue(name, place);
      return this.taken(name);
    }
    return this.grant(name, owner.slice(0, owner.lastIndexOf(':')), ttl, tokens);
  }

  /** @internal */
  release(name: string, owner: string): boolean {
    const released = isSharedOwner(owner)
      ? this.shares.has(name, owner) && this.shares.delete(name, owner)
      : this.kept(name)?.owner === owner && this.locks.delete(name);
    if (released) this.handOff(name);
    return released;
  }

  /** @internal */
  extend({ name, owner, ttl, exact }: Extension): boolean {
    if (isSharedOwner(owner)) {
      if (!this.shares.has(name, owner)) return false;
      if (exact) this.shares.keep(name, owner, ttl);
      else this.shares.prolong(name, owner, ttl);
      return true;
    }
    const kept = this.kept(name);
    if (kept?.owner !== owner) return false;
    if (exact) this.keep(name, owner, ttl);
    else this.prolong(name, kept, ttl);
    return true;
  }

  /** @internal */
  handOver({ name, from, to, ttl }: OwnerChange): boolean {
    if (isSharedOwner(from)) {
      if (!this.shares.has(name, from)) return this.shares.has(name, to);
      this.shares.delete(name, from);
      this.shares.keep(name, to, ttl);
      return true;
    }
    const owner = this.kept(name)?.owner;
    if (owner === from) this.keep(name, to, ttl);
    return owner === from || owner === to;
  }

  /** @internal */
  cancel(instance: string, name: string, place: string): string | undefined {
    const { shared } = parsePlace(place);
    if (shared) this.leave(instance, name, shared.turn);
    else this.dequeue(name, place);
    const owner = this.kept(name)?.owner;
    // Who waited behind it need not any more.
    if (owner === undefined) this.handOff(name);
    return !shared && owner?.startsWith(`${instance}:`) ? owner : undefined;
  }

  /** @internal */
  forceRelease(name: string): boolean {
    const owner = this.kept(name)?.owner;
    const owners = owner === undefined ? [...this.shares.of(name).keys()] : [owner];
    for (const each of owners) {
      const inbox = this.inboxes.get(instanceOf(each));
      if (inbox) deliver(() => inbox.revoked(name, each));
    }
    this.locks.delete(name);
    this.shares.clear(name);
    if (owners.length > 0) this.handOff(name);
    return owners.length > 0;
  }

  /** @internal */
  query(name: string): LockSnapshot {
    const now = this.now();
    const kept = this.kept(name);
    const token = Number(kept?.owner.split(':').at(-1));
    const held: LockInfo[] = [...this.shares.of(name)].map(([owner, expiresAt]) => ({
      name,
      mode: 'shared',
      owner,
      remaining: expiresAt - now,
    }));
    if (kept) {
      const since = new Date(token / 1_000);
      const remaining = kept.expiresAt - now;
      held.push({ name, mode: 'exclusive', owner: kept.owner, since, fencingToken: token, remaining });
    }
    const pending = [...(this.queues.get(name) ?? [])].map(([place, since]): LockInfo => {
      const { instance, shared } = parsePlace(place);
      const mode = shared ? 'shared' : 'exclusive';
      return { name, mode, owner: instance, since: new Date(since), waited: now - since };
    });
    return { held, pending };
  }

  private acquireShared(
    instance: string,
    { name, ttl, tokens, place }: AcquireRequest,
    { limit, turn }: SharedTerms,
  ): Grant | Taken {
    const granted = this.holdsOf(name, instance, turn);
    if (granted.length > 0) {
      for (const owner of granted) this.shares.prolong(name, owner, ttl);
      if (place !== undefined) this.dequeue(name, place);
      return this.sharedGrant(instance, turn, granted.length);
    }
    if (place !== undefined) this.enqueue(name, place);
    let grant: Grant | undefined;
    const take = (room: number): number => {
      grant = this.sharedGrant(instance, turn, Math.min(room, tokens));
      for (const owner of ownersOf(grant)) this.shares.grant(name, owner, ttl);
      return tokens - grant.tokens;
    };
    if (!this.kept(name)) {
      this.handOff(name, { place, take });
      const room = limit - this.shares.of(name).size;
      if (!grant && !this.queues.has(name) && !this.kept(name) && room > 0) take(room);
    }
    return grant ?? this.taken(name);
  }

  /** Gives up what a part of a turn and those after it were granted or wait for; earlier ones have holders. */
  private leave(instance: string, name: string, turn: string): void {
    for (const place of this.queues.get(name)?.keys() ?? []) {
      const { instance: waiting, shared } = parsePlace(place);
      if (waiting === instance && shared && isFrom(shared.turn, turn)) this.dequeue(name, place);
    }
    for (const owner of this.shares.of(name).keys()) {
      const part = turnOf(owner);
      if (instanceOf(owner) === instance && part !== undefined && isFrom(part, turn))
        this.shares.delete(name, owner);
    }
  }

  /** The holds that a turn was granted. */
  private holdsOf(name: string, instance: string, turn: string): string[] {
    const owners: string[] = [];
    for (let n = 1; this.shares.has(name, sharedOwner(instance, turn, n)); n++)
      owners.push(sharedOwner(instance, turn, n));
    return owners;
  }

  /** Holds whose answer went missing get tokens anew. */
  private sharedGrant(instance: string, turn: string, wanted: number): Grant {
    return { owner: sharedOwner(instance, turn, 1), turn, ...this.mint(wanted, wanted) };
  }

  private isHeld(name: string): boolean {
    return this.kept(name) !== undefined || this.shares.of(name).size > 0;
  }

  private kept(name: string): KeptLock | undefined {
    const kept = this.locks.get(name);
    if (!kept || kept.expiresAt > this.now()) return kept;
    this.locks.delete(name);
    return undefined;
  }

  private keep(name: string, owner: string, ttl: number): void {
    this.locks.set(name, { owner, expiresAt: this.now() + Math.ceil(ttl) });
  }

  private prolong(name: string, { owner, expiresAt }: KeptLock, ttl: number): void {
    if (expiresAt < this.now() + ttl) this.keep(name, owner, ttl);
  }

  private grant(name: string, instance: string, ttl: number, tokens: number): Grant {
    const block = this.mint(tokens);
    const owner = `${instance}:${block.token}`;
    this.keep(name, owner, ttl);
    return { owner, ...block };
  }

  private taken(name: string): Taken {
    const kept = this.kept(name);
    const ends = kept ? [kept.expiresAt] : [...this.shares.of(name).values()];
    const remaining = ends.length > 0 ? Math.min(...ends) - this.now() : undefined;
    return { owner: kept?.owner ?? SHARED_OWNER, remaining, mark: this.mark() };
  }

  private mint(wanted: number, needed = 1): { token: number; tokens: number } {
    const now = this.micros();
    const tokens = this.lastToken > now + MAX_TOKENS_AHEAD ? needed : wanted;
    const token = Math.max(this.lastToken + 1, now);
    this.lastToken = token + tokens - 1;
    return { token, tokens };
  }

  /** Counts as a token: unlike on Redis, a later one might be minted within the same tick of the clock. */
  private mark(): number {
    this.lastToken = Math.max(this.lastToken, this.micros());
    return this.lastToken;
  }

  private micros(): number {
    return Math.floor(this.now() * 1_000);
  }

  /**
   * Gives a lock that nobody has alone to whoever comes first, and with the first that would share it to those behind
   * who would, too. Returns the new owner id, `own.place` when it is the turn of that, or undefined when nobody waits
   * who could have it.
   */
  private handOff(name: string, own: Own = { place: undefined }): string | undefined {
    let given: string | undefined;
    const lapsed = new Set(this.shares.lapse(name).map(wholeTurnOf));
    for (const place of [...(this.queues.get(name)?.keys() ?? [])]) {
      const { instance, claim, tokens, shared } = parsePlace(place);
      const inbox = this.inboxes.get(instance);
      const held = this.shares.of(name).size;
      const room = shared ? Math.min(tokens, shared.limit - held) : Number(held === 0);
      if (room < 1 && inbox) {
        if (own.take && place !== own.place) deliver(() => inbox.probed(name, place));
        break;
      }
      if (place === own.place) {
        const rest = (own.take?.(room) ?? 0) > 0 ? restOf(place, room) : undefined;
        this.replace(name, place, rest);
        given = place;
        if (!shared || rest !== undefined) break;
        continue;
      }
      // Its instance may be frozen, and would cost the others another claim each time.
      const isAbandoned =
        shared && hadBefore(shared.turn) > 0 && lapsed.has(`${instance}~${wholeTurn(shared.turn)}`);
      if (!inbox || isAbandoned) {
        this.dequeue(name, place);
        continue;
      }
      const rest = restOf(place, room);
      this.replace(name, place, rest);
      const grant = shared
        ? this.sharedGrant(instance, shared.turn, room)
        : this.grant(name, instance, claim, tokens);
      for (const owner of shared ? ownersOf(grant) : []) this.shares.handOver(name, owner, claim);
      deliver(() => inbox.granted(name, grant, claim));
      given ??= grant.owner;
      if (!shared || rest !== undefined) break;
    }
    return given;
  }

  private enqueue(name: string, place: string): void {
    let queue = this.queues.get(name);
    if (!queue) this.queues.set(name, (queue = new Map()));
    if (!queue.has(place)) queue.set(place, this.now());
  }

  /** What is left of a turn keeps its place. */
  private replace(name: string, place: string, rest: string | undefined): void {
    if (rest === undefined) return this.dequeue(name, place);
    const queue = [...(this.queues.get(name) ?? [])];
    this.queues.set(name, new Map(queue.map(([each, since]) => [each === place ? rest : each, since])));
  }

  private dequeue(name: string, place: string): void {
    const queue = this.queues.get(name);
    if (queue?.delete(place) && queue.size === 0) this.queues.delete(name);
  }
}

function wholeTurnOf(owner: string): string {
  return `${instanceOf(owner)}~${wholeTurn(turnOf(owner) ?? '')}`;
}

/** Messages arrive after the call that caused them, as they do from Redis. */
function deliver(message: () => void): void {
  void Promise.resolve().then(message);
}
