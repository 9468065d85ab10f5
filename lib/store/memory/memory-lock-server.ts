import type {
  AcquireRequest,
  Extension,
  OwnerChange,
  ShareRequest,
  Transferred,
  Waiting,
  YieldRequest,
} from '../lock-store.js';
import type { LockInfo, LockSnapshot } from '../lock-snapshot.interface.js';
import type { ForcedRelease } from '../store-operations.js';
import { type Grant, SHARED_OWNER, type SharedTerms, type Shares, type Taken } from '../grant.js';
import type { KeepRequest, Mark } from '../mark.js';
import { instanceOf, isSharedOwner, sharedTag, tokenOf } from '../owner-id.js';
import { formatPlace, holderOf, parsePlace, restOf, waiterAt } from '../place.js';
import { MemoryInboxes } from './memory-inboxes.js';
import { MemoryLeases } from './memory-leases.js';
import { MemoryQueues } from './memory-queues.js';
import { MemoryTokens } from './memory-tokens.js';

/** A mark and when it expires, in ms since 1970. */
interface KeptMark {
  readonly mark: Mark;
  readonly until: number;
}

/** The place of the requesting instance in the queue, and how it takes shared holds. */
export interface Own {
  readonly place?: string | undefined;
  /** Takes up to `room` holds; returns how many more are wanted. */
  take?(room: number): number;
}

/**
 * The counterpart of a Redis server within one process: the locks, the queues and the inboxes of several instances.
 *
 * Each method does the same as the Lua script of its name, equally atomically.
 *
 * @example
 * ```ts
 * const server = new MemoryLockServer();
 * const replicas = [1, 2].map(() => Test.createTestingModule({ imports: [LockTestingModule.forRoot({ server })] }));
 * ```
 */
export class MemoryLockServer {
  private readonly locks: MemoryLeases;
  private readonly shares: MemoryLeases;
  private readonly marks = new Map<string, KeptMark>();
  /** @internal */
  protected readonly queues: MemoryQueues;
  /** @internal */
  protected readonly tokens: MemoryTokens;
  /** @internal */
  readonly inboxes = new MemoryInboxes();

  /** @param now the time in milliseconds since 1970; by default the system's, fake timers respected. */
  constructor(private readonly now: () => number = () => Date.now()) {
    this.locks = new MemoryLeases(now);
    this.shares = new MemoryLeases(now);
    this.queues = new MemoryQueues(now);
    this.tokens = new MemoryTokens(now);
  }

  /** Clears all data, as FLUSHALL does: holders learn of it at their next renewal. Tokens continue to grow. */
  clear(): void {
    this.locks.clear();
    this.shares.clear();
    this.queues.clear();
    this.marks.clear();
  }

  /** @internal */
  acquire(instance: string, request: AcquireRequest): Grant | Taken {
    const { name, ttl, tokens, place, endedTokenOfName = request.endedToken } = request;
    if (this.isFree(name) && this.queues.of(name).size === 0) return this.grant(name, instance, ttl, tokens);
    this.endOwn(instance, name, endedTokenOfName);
    const owner = this.owner(name);
    if (owner?.startsWith(`${instance}:`)) {
      const token = tokenOf(owner);
      this.locks.prolong(name, owner, ttl);
      if (place !== undefined) this.queues.dequeue(name, place);
      return { owner, token, tokens: 1 };
    }
    if (place !== undefined) this.queues.enqueue(name, place);
    if (this.isFree(name)) {
      const next = this.handOff(name, { place });
      if (!next || next === place) return this.grant(name, instance, ttl, tokens);
    }
    return this.taken(name);
  }

  /** @internal */
  share(instance: string, request: ShareRequest): Shares {
    const { name, ttl, terms, holds, since, known, place, endedToken } = request;
    const tag = sharedTag(terms);
    this.endOwn(instance, name, endedToken);
    const isFree = this.owner(name) === undefined;
    const kept = this.shares
      .ownHolds(name, instance, tag, since)
      .filter((owner) => !known.includes(tokenOf(owner)));
    for (const owner of kept) this.shares.grant(name, owner, ttl);
    const wanted = holds - kept.length;
    let granted: readonly Grant[] = [];
    const take = (room: number): number => {
      granted = this.tokens.shared(instance, tag, Math.min(room, wanted));
      if (this.shares.of(name).size === 0) this.shares.clear(name);
      for (const { owner } of granted) this.shares.keep(name, owner, ttl);
      return wanted - granted.length;
    };
    const own = place === undefined ? undefined : this.wait(name, place, wanted);
    if (isFree) {
      this.handOff(name, { place: own, take });
      const room = fitting(terms, wanted, this.shares.permits(name));
      const isOpen = this.queues.of(name).size === 0 && this.owner(name) === undefined;
      if (granted.length === 0 && isOpen && room > 0) take(room);
    }
    const taken = granted.length < wanted ? this.taken(name, 'first') : undefined;
    const earlier = kept.map((owner): Grant => ({ owner, token: tokenOf(owner), tokens: 1 }));
    return { holds: [...earlier, ...granted], tokenFloor: taken?.tokenFloor ?? this.tokens.floor(), taken };
  }

  /** @internal */
  yield({ name, owner, ttl, tokens, place }: YieldRequest): Grant | Taken | undefined {
    if (!this.locks.has(name, owner)) return undefined;
    this.locks.clear(name);
    if (this.handOff(name)) {
      if (place !== undefined) this.queues.enqueue(name, place);
      return this.taken(name);
    }
    return this.grant(name, instanceOf(owner), ttl, tokens);
  }

  /** @internal */
  release(name: string, owner: string): boolean {
    const leases = this.leasesLike(owner);
    const isShared = this.shares.of(name).size > 0;
    const released = leases.has(name, owner) && leases.delete(name, owner);
    // An expired shared lease also leaves room.
    if (released || (isShared && isSharedOwner(owner))) this.handOff(name);
    return released;
  }

  /** @internal */
  mark(name: string): Mark | undefined {
    return this.kept(name)?.mark;
  }

  /** @internal */
  keep({ name, owner, keep, token, json, releases }: KeepRequest): boolean {
    const isOwn = this.locks.has(name, owner);
    const known = this.mark(name);
    if (known ? known.token !== token : !isOwn) return false;
    if (!known) {
      const mark = { at: Math.floor(this.now()), token, json };
      this.marks.set(name, { mark, until: this.now() + Math.ceil(keep) });
      const waiting = [...this.queues.of(name).keys()].map((place) => parsePlace(place).instance);
      for (const instance of new Set(waiting)) this.inboxes.send(instance, (inbox) => inbox.done(name));
    }
    if (isOwn && releases) this.release(name, owner);
    return true;
  }

  /** @internal */
  deleteMark(name: string): boolean {
    return this.kept(name) !== undefined && this.marks.delete(name);
  }

  /** @internal */
  extend({ name, owner, ttl, exact }: Extension): number {
    const leases = this.leasesLike(owner);
    if (exact && leases.has(name, owner)) leases.keep(name, owner, ttl);
    else leases.prolong(name, owner, ttl);
    return Math.max(0, leases.end(name, owner) - this.now());
  }

  /** @internal Transfers leases to other owner ids, all or none. */
  transfer(changes: readonly OwnerChange[]): Transferred {
    const has = (name: string, owner: string): boolean => this.leasesLike(owner).has(name, owner);
    const moves = changes.filter(({ from, name }) => has(name, from));
    const moved = changes.filter((change) => !moves.includes(change) && has(change.name, change.to));
    const found = moves.length + moved.length;
    if (found < changes.length) return found > 0 || !this.isTakenElsewhere(changes) ? 'gone' : 'taken';
    for (const { from, name, to, ttl } of moves) {
      const leases = this.leasesLike(from);
      leases.delete(name, from);
      leases.keep(name, to, ttl);
    }
    return 'transferred';
  }

  /** @internal */
  cancel(instance: string, name: string, { place, shared }: Waiting): readonly string[] {
    const own = place !== undefined && shared ? this.queues.likeOf(name, place) : place;
    if (own !== undefined) this.queues.dequeue(name, own);
    const owner = this.owner(name);
    const kept = shared
      ? this.shares.ownHolds(name, instance, sharedTag(shared.terms), shared.since)
      : [owner ?? ''].filter((each) => each.startsWith(`${instance}:`));
    // Waiters behind it are admitted.
    if (owner === undefined) this.handOff(name);
    return kept;
  }

  /** @internal */
  forceRelease(name: string, owners?: readonly string[]): ForcedRelease {
    const released = this.holders(name).filter((owner) => owners?.includes(owner) ?? true);
    for (const each of released) {
      this.inboxes.send(instanceOf(each), (inbox) => inbox.revoked(name, each));
      this.leasesLike(each).delete(name, each);
    }
    if (released.length > 0) this.handOff(name);
    return { released, holders: this.holders(name) };
  }

  /** @internal */
  query(name: string): LockSnapshot {
    const [now, kept] = [this.now(), this.kept(name)];
    const done = kept && { at: new Date(kept.mark.at), until: new Date(kept.until) };
    const leases = [...this.shares.inOrder(name), ...this.locks.of(name)];
    const held = leases.map(([owner, expiresAt]): LockInfo => {
      return { name, ...holderOf(owner), remaining: expiresAt - now };
    });
    const pending = [...this.queues.of(name)].map(([place, since]): LockInfo => {
      return { name, ...waiterAt(place), since: new Date(since), waited: Math.max(0, now - since) };
    });
    return { held, pending, ...(done && { done }) };
  }

  /** @internal The held names with a prefix. */
  list(beginning: string): LockSnapshot[] {
    const names = new Set([...this.locks.names(), ...this.shares.names()]);
    return [...names]
      .filter((name) => name.startsWith(beginning))
      .map((name) => this.query(name))
      .filter(({ held }) => held.length > 0);
  }

  /** Frees a lock whose hold has ended in the instance, if only its release was lost. */
  private endOwn(instance: string, name: string, endedToken: number): void {
    const owner = this.owner(name);
    if (owner?.startsWith(`${instance}:`) && tokenOf(owner) <= endedToken) this.locks.clear(name);
  }

  private kept(name: string): KeptMark | undefined {
    const kept = this.marks.get(name);
    if (kept && kept.until > this.now()) return kept;
    this.marks.delete(name);
    return undefined;
  }

  /** Lets an instance wait for so many shared holds, at its former position if it has one. Returns its place. */
  private wait(name: string, place: string, wanted: number): string | undefined {
    const former = this.queues.likeOf(name, place);
    const own = wanted > 0 ? formatPlace({ ...parsePlace(place), wanted }) : undefined;
    if (former !== undefined) this.queues.replace(name, former, own);
    if (own !== undefined) this.queues.enqueue(name, own);
    return own;
  }

  private holders(name: string): string[] {
    return [...this.locks.of(name).keys(), ...this.shares.inOrder(name).keys()];
  }

  private owner(name: string): string | undefined {
    return this.locks.of(name).keys().next().value;
  }

  private isFree(name: string): boolean {
    return this.locks.of(name).size === 0 && this.shares.of(name).size === 0;
  }

  /** Whether another taker may have the locks. An exclusive owner id keeps its token on its way. */
  private isTakenElsewhere([first]: readonly OwnerChange[]): boolean {
    if (!first || isSharedOwner(first.from)) return true;
    const owner = this.owner(first.name);
    return owner !== undefined && tokenOf(owner) === tokenOf(first.from);
  }

  private leasesLike(owner: string): MemoryLeases {
    return isSharedOwner(owner) ? this.shares : this.locks;
  }

  private grant(name: string, instance: string, ttl: number, tokens: number): Grant {
    const grant = this.tokens.exclusive(instance, tokens);
    this.locks.clear(name);
    this.locks.keep(name, grant.owner, ttl);
    return grant;
  }

  /** @param end the end of which shared lease the caller waits for: exclusive callers wait for the last one. */
  private taken(name: string, end: 'first' | 'last' = 'last'): Taken {
    const owner = this.owner(name);
    const ends = [...(owner === undefined ? this.shares : this.locks).of(name).values()];
    const limit = end === 'first' ? Math.min : Math.max;
    const remaining = ends.length > 0 ? limit(...ends) - this.now() : undefined;
    return { owner: owner ?? SHARED_OWNER, remaining, tokenFloor: this.tokens.floor() };
  }

  /**
   * Hands a lock without an exclusive holder to the head of the queue, and with a shared head also to the shared
   * waiters behind it. Returns the new owner id; `own.place` if the caller's own place is at the head; undefined
   * without a suitable waiter.
   *
   * @internal
   */
  protected handOff(name: string, own: Own = {}): string | undefined {
    let given: string | undefined;
    const lapsed = this.shares.lapse(name);
    for (const place of [...this.queues.of(name).keys()]) {
      const { instance, claimTtl, wanted, shared } = parsePlace(place);
      const isHeard = this.inboxes.has(instance);
      const held = this.shares.permits(name);
      const room = shared ? fitting(shared, wanted, held) : Number(held === 0);
      // Only a shared acquire probes whether a blocked head still waits.
      if (room < 1 && (isHeard || place === own.place || !own.take)) {
        if (own.take && place !== own.place)
          this.inboxes.send(instance, (inbox) => inbox.askedIfWaiting(name, place));
        break;
      }
      if (place === own.place) {
        const rest = (own.take?.(room) ?? 0) > 0 ? restOf(place, room) : undefined;
        this.queues.replace(name, place, rest);
        given = place;
        if (!shared || rest !== undefined) break;
        continue;
      }
      // Its instance may be frozen, and each wanted hold would cost the others one more claim lease.
      const isAbandoned = room < 1 || (shared && lapsed.has(instance));
      const grants = isAbandoned ? [] : this.mint(place, room);
      const [first] = grants;
      if (!first || !isHeard) {
        this.queues.dequeue(name, place);
        continue;
      }
      const rest = shared && restOf(place, room);
      this.queues.replace(name, place, rest);
      for (const { owner } of grants)
        if (shared) this.shares.handOff(name, owner, claimTtl);
        else this.locks.keep(name, owner, claimTtl);
      this.inboxes.send(instance, (inbox) => inbox.granted(name, grants, claimTtl));
      given ??= first.owner;
      if (!shared || rest !== undefined) break;
    }
    return given;
  }

  /** Mints the grant of the exclusive lock, or of so many shared holds, to the instance at a place. */
  private mint(place: string, room: number): readonly Grant[] {
    const { instance, wanted, shared } = parsePlace(place);
    return shared
      ? this.tokens.shared(instance, sharedTag(shared), room)
      : [this.tokens.exclusive(instance, wanted)];
  }
}

/** How many of the wanted holds fit beside `held` permits. An instance receives no part of a hold. */
function fitting({ limit, permits }: SharedTerms, wanted: number, held: number): number {
  return Math.min(wanted, Math.floor((limit - held) / permits));
}
