import type {
  AcquireRequest,
  Extension,
  ForcedRelease,
  OwnerChange,
  Transferred,
  YieldRequest,
} from '../lock-store.js';
import type { LockSnapshot } from '../lock-snapshot.interface.js';
import { type Grant, SHARED_OWNER, type SharedTerms, type Taken } from '../grant.js';
import type { KeepRequest } from '../mark.js';
import { instanceOf, isSharedOwner, ownersOf } from '../owner-id.js';
import { parsePlace, restOf } from '../place.js';
import { fitting, hadBefore, wholeTurn } from '../turn-name.js';
import { MemoryMarks } from './memory-marks.js';
import { MemoryInboxes } from './memory-inboxes.js';
import { MemoryLeases } from './memory-leases.js';
import { MemoryQueues } from './memory-queues.js';
import { snapshotOf } from './memory-snapshot.js';
import { MemoryTokens } from './memory-tokens.js';
import { transferLeases } from './memory-transfer.js';

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
  /** @internal */
  protected readonly queues: MemoryQueues;
  /** @internal */
  protected readonly tokens: MemoryTokens;
  /** @internal */
  readonly marks: MemoryMarks;
  /** @internal */
  readonly inboxes = new MemoryInboxes();

  /** @param now the time in milliseconds since 1970; by default the system's, fake timers respected. */
  constructor(private readonly now: () => number = () => Date.now()) {
    this.locks = new MemoryLeases(now);
    this.shares = new MemoryLeases(now);
    this.queues = new MemoryQueues(now);
    this.tokens = new MemoryTokens(now);
    this.marks = new MemoryMarks(now, this.locks, this.queues, this.inboxes);
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
    const { name, ttl, tokens, place, shared, endedTokenOfName = request.endedToken } = request;
    const endedToken = shared ? request.endedToken : endedTokenOfName;
    const owner = this.owner(name);
    const token = owner?.startsWith(`${instance}:`) ? Number(owner.slice(instance.length + 1)) : Infinity;
    // The hold has ended in the instance, and only its release was lost.
    if (token <= endedToken) this.locks.clear(name);
    if (shared) return this.acquireShared(instance, request, shared);
    if (owner !== undefined && token > endedToken && token < Infinity) {
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
  yield({ name, owner, ttl, tokens, place }: YieldRequest): Grant | Taken | undefined {
    if (!this.locks.has(name, owner)) return undefined;
    this.locks.clear(name);
    if (this.handOff(name)) {
      if (place !== undefined) this.queues.enqueue(name, place);
      return this.taken(name);
    }
    return this.grant(name, owner.slice(0, owner.lastIndexOf(':')), ttl, tokens);
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
  keep(request: KeepRequest): boolean {
    const isKept = this.marks.keep(request);
    if (isKept && request.releases && this.locks.has(request.name, request.owner))
      this.release(request.name, request.owner);
    return isKept;
  }

  /** @internal */
  extend({ name, owner, ttl, exact }: Extension): number {
    const leases = this.leasesLike(owner);
    if (exact && leases.has(name, owner)) leases.keep(name, owner, ttl);
    else leases.prolong(name, owner, ttl);
    return Math.max(0, leases.end(name, owner) - this.now());
  }

  /** @internal */
  transfer(changes: readonly OwnerChange[]): Transferred {
    return transferLeases(changes, this.locks, this.shares);
  }

  /** @internal */
  cancel(instance: string, name: string, place: string | undefined): string | undefined {
    const shared = place === undefined ? undefined : parsePlace(place).shared;
    if (shared) {
      this.queues.leave(name, instance, shared.turn);
      this.shares.leave(name, instance, shared.turn);
    } else if (place !== undefined) this.queues.dequeue(name, place);
    const owner = this.owner(name);
    // Waiters behind it are admitted.
    if (owner === undefined) this.handOff(name);
    return !shared && owner?.startsWith(`${instance}:`) ? owner : undefined;
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
    const [now, done] = [this.now(), this.marks.times(name)];
    const found = snapshotOf(name, now, this.locks.of(name), this.shares.inOrder(name), this.queues.of(name));
    return done ? { ...found, done } : found;
  }

  /** @internal The held names with a prefix. */
  list(beginning: string): LockSnapshot[] {
    const names = new Set([...this.locks.names(), ...this.shares.names()]);
    return [...names]
      .filter((name) => name.startsWith(beginning))
      .map((name) => this.query(name))
      .filter(({ held }) => held.length > 0);
  }

  private acquireShared(
    instance: string,
    { name, ttl, tokens, place }: AcquireRequest,
    { limit, turn }: SharedTerms,
  ): Grant | Taken {
    const granted = this.shares.ofTurn(name, instance, turn);
    if (granted.length > 0) {
      for (const owner of granted) this.shares.grant(name, owner, ttl);
      if (place !== undefined) this.queues.dequeue(name, place);
      return this.tokens.shared(instance, turn, granted.length);
    }
    if (place !== undefined) this.queues.enqueue(name, place);
    let grant: Grant | undefined;
    const take = (room: number): number => {
      grant = this.tokens.shared(instance, turn, Math.min(room, tokens));
      if (this.shares.of(name).size === 0) this.shares.clear(name);
      for (const owner of ownersOf(grant)) this.shares.grant(name, owner, ttl);
      return tokens - grant.tokens;
    };
    if (this.owner(name) === undefined) {
      this.handOff(name, { place, take });
      const room = fitting(turn, tokens, limit - this.shares.permits(name));
      if (!grant && this.queues.of(name).size === 0 && this.owner(name) === undefined && room > 0) take(room);
    }
    return grant ?? this.taken(name, 'first');
  }

  private holders(name: string): string[] {
    return [...this.locks.of(name).keys(), ...this.shares.inOrder(name).keys()];
  }

  /** The exclusive owner. */
  private owner(name: string): string | undefined {
    return this.locks.of(name).keys().next().value;
  }

  private isFree(name: string): boolean {
    return this.locks.of(name).size === 0 && this.shares.of(name).size === 0;
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
      const { instance, claimTtl, tokens, shared } = parsePlace(place);
      const isHeard = this.inboxes.has(instance);
      const held = this.shares.permits(name);
      const room = shared ? fitting(shared.turn, tokens, shared.limit - held) : Number(held === 0);
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
      const isAbandoned =
        shared && hadBefore(shared.turn) > 0 && lapsed.has(`${instance}~${wholeTurn(shared.turn)}`);
      const mint = (): Grant =>
        shared ? this.tokens.shared(instance, shared.turn, room) : this.tokens.exclusive(instance, tokens);
      const grant = room < 1 || isAbandoned ? undefined : mint();
      if (!grant || !isHeard) {
        this.queues.dequeue(name, place);
        continue;
      }
      const rest = restOf(place, room);
      this.queues.replace(name, place, rest);
      for (const owner of ownersOf(grant))
        if (shared) this.shares.handOff(name, owner, claimTtl);
        else this.locks.keep(name, owner, claimTtl);
      this.inboxes.send(instance, (inbox) => inbox.granted(name, grant, claimTtl));
      given ??= grant.owner;
      if (!shared || rest !== undefined) break;
    }
    return given;
  }
}
