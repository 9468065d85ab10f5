import type { LockConfigError, LockError } from '../errors/lock.error.js';
import type { ResolvedLockOptions } from '../options/lock-options.interface.js';
import type { LockLog } from '../diagnostics/lock-log.js';
import { listingOf, type LockListing } from '../store/lock-listing.js';
import type { LockSnapshot } from '../store/lock-snapshot.interface.js';
import type { Gap, LockStore, StoreEvents } from '../store/lock-store.js';
import type { Instance } from '../store/open-store.js';
import type { ForcedRelease } from '../store/store-operations.js';
import type { MarkStore } from '../store/mark.js';
import type { Grant } from '../store/grant.js';
import type { DetachedLock } from './hold/detached-lock.js';
import { Attachments } from './hold/attachments.js';
import { Requests } from './hold/requests.js';
import type { Clock } from '../primitives/clock.js';
import { inRootContext } from '../primitives/root-context.js';
import type { Hold } from './hold/hold.js';
import { type HeldBy, Labels } from './hold/labels.js';
import type { LeaseUser } from './hold/lease.js';
import { Leases } from './hold/leases.js';
import type { OwnHold } from './hold/lock.interface.js';
import { abortHolders, haveHoldersEnded, until } from './hold/shutdown.js';
import { SilentHolders } from './hold/silent-holders.js';
import { closedError, requestError, unusableError } from './lock-errors.js';
import { LocalQueue } from './queue/local-queue.js';
import { LocalQueues } from './queue/local-queues.js';
import { type BudgetLimits, resolveBudget } from './queue/bid.js';
import { excludesOthers } from './queue/waiter.js';

export interface EngineSettings extends Instance {
  readonly store: LockStore;
  /** Set by tests. */
  readonly budget?: Partial<BudgetLimits>;
  /** Milliseconds between requests for labels; see {@link Labels}. */
  readonly labelIntervals?: readonly number[];
}

/** Creates the error of the names whose callers are rejected. */
type Rejection = (names: readonly string[]) => Error;

/** The engine of one instance: its local queues, its leases, and the events of its store. */
export class LockEngine implements StoreEvents {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly log: LockLog;
  readonly leases: Leases;
  readonly labels: Labels;
  readonly queues: LocalQueues<LocalQueue>;
  private readonly silentHolders: SilentHolders;
  /** Called when a run may have left its result for callers of a name here, or of any name. */
  done: (name?: string) => void = () => undefined;
  private readonly attachments: Attachments;
  private isOpen = false;
  /** When holders have had their time to end; undefined until the shutdown waits for them. */
  private holdersEndAt: number | undefined;
  private aborting: Promise<void> | undefined;
  /** Why the store cannot be used for now. */
  private fault: Rejection | undefined;

  constructor(settings: EngineSettings) {
    this.store = settings.store;
    this.clock = settings.clock;
    this.log = settings.log;
    const requests = new Requests(this.clock, this.store, this.log);
    this.leases = new Leases(
      this.clock,
      this.store,
      requests,
      () => this.queues.known(),
      (event) => this.queueOf(event.lease.name).feed(event),
    );
    this.labels = new Labels(
      settings.name,
      this.clock,
      this.store,
      (held) => this.labelOf(held),
      settings.labelIntervals,
    );
    this.silentHolders = new SilentHolders(this.clock, this.store, this.labels, this.log, () =>
      this.queues.waited(),
    );
    this.queues = new LocalQueues(
      this.leases,
      this.labels,
      this.silentHolders,
      resolveBudget(settings.budget),
    );
    this.attachments = new Attachments(settings.name, this.leases);
  }

  /** Number of names that callers here hold or wait for, and of strings that callers attach. */
  get size(): number {
    return this.queues.size + this.attachments.size;
  }

  labelOf({ name, owner }: HeldBy): string | undefined {
    return this.queues.get(name)?.record.leaseOf(owner)?.hold?.describe(this.clock.now()).label;
  }

  told(message: string): void {
    this.labels.handle(message);
  }

  /** The holds of this instance, oldest grant first. */
  holds(): OwnHold[] {
    // One time for all entries: otherwise a pause between two readings would order them wrongly.
    const now = this.clock.now();
    return this.leases.holds
      .map((hold) => hold.describe(now))
      .map((hold) => ({ ...hold, waiting: this.waitersOf(hold.name) }))
      .toSorted((a, b) => b.age - a.age);
  }

  /** The holders of a name with their labels, and the waiting instances. */
  async query(name: string): Promise<LockSnapshot> {
    const snapshot = await this.request(name, (store) => store.operations.query(name));
    return { ...snapshot, held: await this.labels.addTo(snapshot.held) };
  }

  /** Ends holds of a name forcibly: those of the owner ids, or all. */
  forceRelease(name: string, owners: readonly string[] | undefined): Promise<ForcedRelease> {
    return this.request(name, (store) => store.operations.forceRelease(name, owners));
  }

  /** Sends a request about a name for a caller that acquires nothing. */
  async request<Reply>(name: string, send: (store: LockStore) => Promise<Reply>): Promise<Reply> {
    try {
      return await send(this.openStore());
    } catch (cause) {
      throw this.requestError([name], cause);
    }
  }

  /** The error of a failed request: the store did not answer, refused it, or was closed. */
  requestError(names: readonly string[], cause: unknown): LockError {
    return this.queues.phase === 'closed' ? closedError(names) : requestError(names, cause);
  }

  /** Iterates over the held names with a prefix, some at a time; a single holder has its label. */
  async *list(beginning: string): AsyncGenerator<readonly LockListing[], void> {
    try {
      for await (const page of this.openStore().operations.list(beginning)) {
        const single = await this.labels.addTo(page.flatMap(({ held }) => (held.length === 1 ? held : [])));
        const labels = new Map(single.map((each) => [each.name, [each]]));
        yield page.map(({ held, pending }) =>
          listingOf({ held: labels.get(held[0]?.name ?? '') ?? held, pending }),
        );
      }
    } catch (cause) {
      throw this.requestError([], cause);
    }
  }

  /** Number of callers that wait for a name. */
  waitersOf(name: string): number {
    return this.queues.get(name)?.record.line.size ?? 0;
  }

  /**
   * Returns a function for the holds of this instance that must all end before a caller that arrives now. If an
   * exclusive caller waits before it, these include the holds for which that caller waits.
   */
  blockersOf(name: string, options: ResolvedLockOptions): () => readonly LeaseUser[] {
    const line = this.queues.get(name)?.record.line;
    const before = excludesOthers(options) ? [] : (line?.excludingWaiters ?? []);
    return () => {
      const leases = this.queues.get(name)?.record.leases() ?? [];
      const holders = [...leases].flatMap(({ hold }) => hold ?? []);
      // A caller that waits for one of several permits waits for no particular holder.
      return excludesOthers(options) || before.some((waiter) => line?.has(waiter))
        ? holders
        : holders.filter((hold) => hold.mode === 'exclusive');
    };
  }

  /**
   * Whether a single attempt would be rejected without a request, because the name is known to be taken. For a call that
   * may wait, also whether the attempt would overtake waiters here.
   */
  isBusy(name: string, { wait }: Pick<ResolvedLockOptions, 'wait'>): boolean {
    const known = this.queues.get(name)?.record;
    return known !== undefined && (known.isTaken || (wait > 0 && known.line.size > 0));
  }

  /** Waits for the lock of one name, or makes a single attempt with `wait: 0`. */
  acquire(name: string, options: ResolvedLockOptions): Promise<Hold> {
    const { rejection } = this;
    if (rejection) return Promise.reject(rejection([name]));
    this.openStore();
    return this.queueOf(name).enter(options);
  }

  /** Where the results of runs are kept; undefined if the store keeps none. */
  marksOf(name: string): MarkStore | undefined {
    const { rejection } = this;
    if (rejection) throw rejection([name]);
    return this.openStore().marks;
  }

  /** Attaches the holds of a string that another instance has detached. */
  attach(detached: DetachedLock, options: ResolvedLockOptions): Promise<readonly Hold[]> {
    const { rejection } = this;
    if (rejection) return Promise.reject(rejection(detached.holds.map(({ name }) => name)));
    this.openStore();
    return this.attachments.attach(detached, options);
  }

  granted(name: string, grants: readonly Grant[], claimTtl: number): void {
    const queue = this.queues.get(name);
    if (queue) queue.report({ kind: 'granted', grants, claimTtl });
    else void this.queues.returnGrants(name, grants, claimTtl);
  }

  released(name: string): void {
    this.queues.get(name)?.report({ kind: 'ask-again' });
  }

  gap(name: string, gap: Omit<Gap, 'place'>): void {
    this.queues.gaps.noteGap(name, gap, this.clock.now());
    this.queues.get(name)?.report({ kind: 'gap', length: gap.length });
  }

  askedIfWaiting(name: string, place: string): void {
    if (!this.queues.needs(name, place)) this.queues.cancelPlace(name, place);
  }

  isInUse(name: string): boolean {
    return this.queues.get(name) !== undefined;
  }

  revoked(name: string, owner: string): void {
    this.queues.get(name)?.report({ kind: 'revoked', owner });
    this.attachments.revoke(name, owner);
  }

  /** Sends requests again, because messages may have been missed: grants to waiters, and forced releases. */
  subscribed(name?: string): void {
    this.done(name);
    if (name !== undefined) return this.queues.get(name)?.report({ kind: 'ask-again' });
    this.leases.checkNow();
    for (const queue of this.queues) queue.report({ kind: 'ask-again' });
  }

  reconnected(): void {
    this.leases.noteResent();
    this.leases.requests.reconnected();
    this.leases.checkNow();
    for (const queue of this.queues) queue.report({ kind: 'reconnected' });
  }

  unusable(reason: LockConfigError | undefined): void {
    this.fault = reason && ((names) => unusableError(reason, names));
    if (this.fault) this.rejectAll(this.fault);
  }

  /** Whether shutdown has begun. */
  get isClosing(): boolean {
    return this.queues.phase !== 'running';
  }

  /** Begins the shutdown: from now on, free locks are granted, and no caller waits for a taken one. */
  endWaits(): void {
    if (!this.isClosing) this.queues.phase = 'ending-waits';
    for (const queue of [...this.queues]) queue.report({ kind: 'end-waits' });
  }

  /** Rejects all new and waiting calls from now on. Holders continue. */
  rejectAcquires(): void {
    if (this.queues.phase !== 'closed') this.queues.phase = 'rejecting';
    this.rejectAll(closedError);
  }

  /**
   * Waits for the present holders, for at most `shutdownTimeout` ms. After that, aborts the signals of all holders and
   * grants no more locks.
   */
  async awaitHolders(shutdownTimeout: number): Promise<void> {
    const haveEnded = haveHoldersEnded(this.leases);
    if (!(await this.waitUntil(haveEnded, shutdownTimeout))) await this.abortHolders(shutdownTimeout);
  }

  /**
   * Ends the shutdown. Waits for all callers, for at most `shutdownTimeout` ms together with {@link awaitHolders}; the
   * leases of the others will expire.
   */
  async close(shutdownTimeout: number): Promise<void> {
    await this.waitUntil(() => !this.hasCallers, shutdownTimeout);
    await this.abortHolders(shutdownTimeout);
    this.leases.requests.stop();
    this.leases.stop();
    this.silentHolders.stop();
    this.queues.stop();
    this.queues.phase = 'closed';
    await this.store.close();
  }

  private waitUntil(isDone: () => boolean, shutdownTimeout: number): Promise<boolean> {
    this.endWaits();
    const { clock, requests } = this.leases;
    this.holdersEndAt ??= clock.now() + shutdownTimeout;
    return until(clock, () => isDone() && requests.underWay === 0, this.holdersEndAt);
  }

  private abortHolders(shutdownTimeout: number): Promise<void> {
    this.rejectAcquires();
    return (this.aborting ??= abortHolders(this.leases, () => this.size === 0, this.log, shutdownTimeout));
  }

  /** Whether a caller holds a name, or has not received its reply yet. */
  private get hasCallers(): boolean {
    if (this.leases.size > 0 || this.attachments.size > 0) return true;
    for (const { record } of this.queues) if (record.line.size > 0) return true;
    return false;
  }

  private queueOf(name: string): LocalQueue {
    let queue = this.queues.get(name);
    if (!queue) this.queues.add((queue = new LocalQueue(name, this.queues)));
    return queue;
  }

  /** Opens the store, once; throws after it was closed. */
  private openStore(): LockStore {
    if (this.queues.phase === 'closed') throw closedError([]);
    // Its connections and timers outlive the first call.
    if (!this.isOpen) inRootContext(() => this.store.open(this));
    this.isOpen = true;
    return this.store;
  }

  private rejectAll(error: Rejection): void {
    for (const queue of [...this.queues])
      queue.report({ kind: 'reject-all', error: () => error([queue.record.name]) });
    this.attachments.rejectAll(error);
  }

  /** The reason why no acquire is possible; undefined if acquires are possible. */
  private get rejection(): Rejection | undefined {
    const { phase } = this.queues;
    return phase === 'rejecting' || phase === 'closed' ? closedError : this.fault;
  }
}
