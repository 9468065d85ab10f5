import type { Clock } from '../../primitives/clock.js';
import { Deadlines } from '../../primitives/deadlines.js';
import { AnswerWakeUp, type WakeUp } from '../../primitives/wake-up.js';
import type { Grant, Taken } from '../../store/grant.js';
import type { LockStore, Waiting } from '../../store/lock-store.js';
import { tokenOf } from '../../store/owner-id.js';
import { parsePlace } from '../../store/place.js';
import type { Labels } from '../hold/labels.js';
import type { Lease } from '../hold/lease.js';
import type { Leases } from '../hold/leases.js';
import type { SilentHolders } from '../hold/silent-holders.js';
import { Gaps } from './gaps.js';
import type { NameRecord, NameSurroundings } from './name-record.js';
import type { Event } from './name-event.js';
import type { BudgetLimits } from './bid.js';
import type { Waiter } from './waiter.js';

/**
 * The phases of an instance until the end of its shutdown, in order:
 * - ending-waits: free locks are granted, and no caller waits for a taken one.
 * - rejecting: all acquires are rejected, and holders continue.
 * - closed: the store is closed.
 */
export type Phase = 'running' | 'ending-waits' | 'rejecting' | 'closed';

/** The local queues of one instance by name, with everything that they share. */
export class LocalQueues<
  Queue extends { readonly record: NameRecord; report(event: Event, now?: number): void },
> implements NameSurroundings {
  readonly store: LockStore;
  readonly clock: Clock;
  /** Watches unanswered requests of all queues with one timer. An answered request costs nothing. */
  readonly outages: WakeUp;
  readonly waits: Deadlines<Waiter>;
  readonly gaps = new Gaps();
  /** The highest token of a lease or grant that has ended here: the store must not adopt it as a lost reply. */
  endedToken = 0;
  /** How far the shutdown of this instance has got. */
  phase: Phase = 'running';
  /**
   * A Map keeps removed entries alive (see `Fifo`). The slot of a removed queue therefore stays in the Map, without the
   * queue.
   */
  private readonly slots = new Map<string, { queue: Queue | undefined }>();

  constructor(
    readonly leases: Leases,
    readonly labels: Labels,
    readonly silentHolders: SilentHolders,
    readonly budget: BudgetLimits,
  ) {
    const { clock, store } = leases;
    this.clock = clock;
    this.store = store;
    this.outages = new AnswerWakeUp(clock, (now) => {
      for (const queue of this) queue.report({ kind: 'silence' }, now);
    });
    this.waits = new Deadlines(clock, (waiter) => this.get(waiter.name)?.report({ kind: 'timeout', waiter }));
  }

  get size(): number {
    return this.slots.size;
  }

  *[Symbol.iterator](): Generator<Queue> {
    for (const { queue } of this.slots.values()) if (queue) yield queue;
  }

  /** The leases of all names. */
  *known(): Generator<Lease> {
    for (const { record } of this) yield* record.leases();
  }

  /** The names with waiters, and the last replies of the store that they are taken. */
  *waited(): Generator<readonly [name: string, taken: Taken]> {
    for (const { record } of this)
      if (record.takenReply && record.line.size > record.line.attempts)
        yield [record.name, record.takenReply];
  }

  get(name: string): Queue | undefined {
    return this.slots.get(name)?.queue;
  }

  add(queue: Queue): void {
    this.slots.set(queue.record.name, { queue });
  }

  /** Forgets an idle queue, unless its name has another queue or none. */
  drop(queue: Queue): void {
    const { name } = queue.record;
    const slot = this.slots.get(name);
    if (slot?.queue !== queue) return;
    slot.queue = undefined;
    this.slots.delete(name);
  }

  /** Whether callers here wait at a place in the store's queue. */
  needs(name: string, place: string): boolean {
    return this.get(name)?.record.bid?.waitsAt(place) === true;
  }

  /** Leaves a place in the store's queue at which no caller here waits. */
  cancelPlace(name: string, place: string): void {
    const terms = parsePlace(place).shared;
    const since = Math.min(this.get(name)?.record.since ?? Infinity, this.endedToken);
    void this.cancel(name, { place, shared: terms && { terms, since } }, 0);
  }

  /** Records the token of a lease or grant that has ended here. */
  noteEndedToken(token: number): void {
    if (token > this.endedToken) this.endedToken = token;
  }

  /** Releases grants that no caller wants, with leases of at most `ttl` ms, and never adopts them. Never rejects. */
  returnGrants(
    name: string,
    grants: readonly Pick<Grant, 'owner' | 'token'>[],
    ttl: number,
  ): Promise<unknown> {
    const known = this.get(name)?.record;
    const unused = grants.filter(({ owner }) => !known?.leaseOf(owner));
    for (const { token } of unused) this.noteEndedToken(token);
    return Promise.all(unused.map(({ owner }) => this.leases.requests.release(name, owner, ttl)));
  }

  /**
   * Leaves the store's queue, and returns what the store keeps for this instance and no caller wants, with leases of at
   * most `ttl` ms. Never rejects.
   */
  cancel(name: string, { place, shared }: Waiting, ttl: number): Promise<void> {
    const known = (): NameRecord | undefined => this.get(name)?.record;
    let isRepeated = false;
    const send = async (): Promise<void> => {
      // Callers that came since wait at the same place.
      const isNeeded = isRepeated && place !== undefined && this.needs(name, place);
      isRepeated = true;
      const kept = await this.store.cancel(name, { place: isNeeded ? undefined : place, shared });
      // A request that continues may obtain the grants.
      const unused = kept
        .filter((owner) => !known()?.leaseOf(owner) && !known()?.mayAdopt(owner))
        .map((owner) => ({ owner, token: tokenOf(owner) }));
      for (const { owner, token } of unused) known()?.noteEnded(owner, token);
      await this.returnGrants(name, unused, ttl);
    };
    // An exclusive lease or request of this instance could be ended by a late repetition.
    const mayRepeat = (): boolean =>
      shared !== undefined || !(known()?.exclusiveLease ?? known()?.wantsExclusive);
    return this.leases.requests.run({ what: () => `Leaving the queue of ${name}`, ttl, send, mayRepeat });
  }

  stop(): void {
    this.waits.stop();
    this.outages.clear();
  }
}
