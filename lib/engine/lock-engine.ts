import { LockClosedError } from '../errors/lock-closed.error.js';
import { LockLostError } from '../errors/lock-lost.error.js';
import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import type { HandoffOptions } from '../interfaces/module-options.interface.js';
import type { LockLog } from '../store/lock-log.js';
import type { Grant, LockStore, StoreEvents } from '../store/lock-store.js';
import type { HandedHold } from '../handover/handover-string.js';
import { Attachments } from './attachments.js';
import { ownersOf, SHARED_MARK, tokenOf } from '../store/owner-id.js';
import type { Clock } from './clock.js';
import { Deadlines } from './deadlines.js';
import type { Hold } from './hold.js';
import type { Lease } from './lease.js';
import { LeaseKeeper } from './lease-keeper.js';
import { LocalQueue } from './local-queue.js';
import { OutageWatch } from './outage-watch.js';
import type { QueueContext } from './queue-context.js';
import { type Waiter, wantsToBeAlone } from './waiter.js';

/** How long running holders may go on after shutdown began, and how long their work has to end after that. */
const SHUTDOWN_GRACE = 5_000;
const ABORT_GRACE = 500;
const SHUTDOWN_POLL = 10;
/** What part of its lease has to be left to a hold when it becomes its caller's, where nobody renews it or `minHold` counts. */
const FRESH = 0.9;

export interface EngineSettings {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly handoff: Required<HandoffOptions>;
  readonly maxWaiters: number;
  readonly log: LockLog;
}

/** One instance's side of every lock: its local queues, its leases, and the messages of its store. */
export class LockEngine implements QueueContext, StoreEvents {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly handoff: Required<HandoffOptions>;
  readonly maxWaiters: number;
  readonly keeper: LeaseKeeper;
  readonly outages: OutageWatch;
  readonly waits: Deadlines<Waiter>;
  readonly log: LockLog;
  private readonly queues = new Map<string, LocalQueue>();
  private readonly attachments = new Attachments(this);
  /** Releases and cancels under way that nobody may wait for. */
  private cleanUps = 0;
  private opened = false;
  private closing = false;
  private spent = 0;
  private turns = 0;

  constructor(settings: EngineSettings) {
    this.store = settings.store;
    this.clock = settings.clock;
    this.handoff = settings.handoff;
    this.maxWaiters = settings.maxWaiters;
    this.log = settings.log;
    this.keeper = new LeaseKeeper(this.clock, this.store, (lease, error, gone) => {
      this.queueOf(lease)?.lose(lease, error, gone);
    });
    this.outages = new OutageWatch(this.clock, () => this.queues.values());
    this.waits = new Deadlines(this.clock, (waiter) => waiter.queue.timeOut(waiter));
  }

  /** Names that somebody here holds or waits for. */
  get size(): number {
    return this.queues.size + this.attachments.size;
  }

  /** Whether shutdown has begun. */
  get isClosing(): boolean {
    return this.closing;
  }

  /** Callers that wait for a name. */
  waitersOf(name: string): number {
    return this.queues.get(name)?.waiting ?? 0;
  }

  /**
   * Tells at any time which holds of this instance all have to end before a caller begins who comes now with these
   * options: where one that wants to be alone stands before it, those for which that one waits, too.
   */
  blockersOf(name: string, options: ResolvedLockOptions): () => readonly Hold[] {
    const before = wantsToBeAlone(options) ? [] : (this.queues.get(name)?.waitersToBeAlone ?? []);
    return () => {
      const holders = this.queues.get(name)?.holders ?? [];
      // Who waits for one of several permits waits for none of them in particular.
      return wantsToBeAlone(options) || before.some(({ isWaiting }) => isWaiting)
        ? holders
        : holders.filter((hold) => hold.mode === 'exclusive');
    };
  }

  /** Whether somebody has a name, as far as that is known here: a single attempt would be refused without asking. */
  isTaken(name: string): boolean {
    return this.queues.get(name)?.isTaken ?? false;
  }

  /** Waits for the lock of one name; `once` asks a single time instead. */
  acquire(name: string, options: ResolvedLockOptions, once: boolean): Promise<Hold> {
    if (this.closing) return Promise.reject(this.closedError(name));
    this.open();
    let queue = this.queues.get(name);
    if (!queue) this.queues.set(name, (queue = new LocalQueue(name, this)));
    return queue.enter(options, once);
  }

  /** Makes a hold its caller's that was kept, with other options, until it was certain that the caller gets it. */
  begin(hold: Hold, options: ResolvedLockOptions): void {
    const { lease } = hold;
    const now = this.clock.now();
    hold.begin(options, now);
    this.keeper.add(lease);
    const needed = options.renew ? options.minHold : options.ttl;
    if (lease.deadline - now < needed * FRESH) this.keeper.renewSoon(lease);
  }

  /** Goes on with a hold that another instance has detached. */
  attach(handed: HandedHold, secret: string, options: ResolvedLockOptions): Promise<Hold> {
    if (this.closing) return Promise.reject(this.closedError(handed.name));
    this.open();
    return this.attachments.take(handed, secret, options);
  }

  granted(name: string, grant: Grant, claim: number): void {
    const queue = this.queues.get(name);
    if (queue) queue.accept(grant, claim);
    else this.giveBack(name, grant);
  }

  released(name: string): void {
    this.queues.get(name)?.askAgain();
  }

  probed(name: string, place: string): void {
    if (!this.queues.get(name)?.needs(place)) void this.cancel(name, place);
  }

  revoked(name: string, owner: string): void {
    this.queues.get(name)?.revoke(owner);
    this.attachments.revoke(owner);
  }

  /** What was said before went unheard: grants to those who wait, and that a hold was taken away. */
  subscribed(name?: string): void {
    if (name !== undefined) return this.queues.get(name)?.askAgain();
    this.keeper.checkNow();
    for (const queue of this.queues.values()) queue.askAgain();
  }

  reconnected(): void {
    this.subscribed();
  }

  get highestSpentToken(): number {
    return this.spent;
  }

  spend(token: number): void {
    if (token > this.spent) this.spent = token;
  }

  giveBack(name: string, grant: Grant): void {
    this.spend(grant.token);
    for (const owner of ownersOf(grant))
      if (!this.queues.get(name)?.leaseOf(owner)) void this.free(name, owner);
  }

  newTurn(): string {
    return SHARED_MARK + (++this.turns).toString(36);
  }

  free(name: string, owner: string): Promise<void> {
    return this.cleanUp(
      this.store.release(name, owner),
      (problem) => `The release of ${name} was not confirmed; its lease will end it. ${problem}`,
    );
  }

  cancel(name: string, place: string): Promise<void> {
    const cancelled = this.store.cancel(name, place).then(async (owner) => {
      if (!owner || this.queues.get(name)?.mayUse(owner)) return;
      this.spend(tokenOf(owner));
      await this.store.release(name, owner);
    });
    return this.cleanUp(
      cancelled,
      (problem) =>
        `Leaving the queue of ${name} was not confirmed; a grant to this instance would lapse by itself. ${problem}`,
    );
  }

  drop(queue: LocalQueue): void {
    if (this.queues.get(queue.name) !== queue) return this.attachments.delete(queue);
    this.queues.delete(queue.name);
    this.store.ignore?.(queue.name);
  }

  /** Refuses everybody from now on, those who wait included. Holders go on. */
  beginShutdown(): void {
    this.closing = true;
    for (const queue of [...this.queues.values()]) queue.refuseAll(() => this.closedError(queue.name));
    this.attachments.refuseAll((name) => this.closedError(name));
  }

  /** Waits for running holders, aborts the signals of those that do not end, and leaves the rest to their leases. */
  async close(): Promise<void> {
    this.beginShutdown();
    await this.until(() => this.keeper.size === 0 && this.cleanUps === 0, SHUTDOWN_GRACE);
    for (const lease of [...this.keeper]) {
      lease.hold?.lose(
        new LockLostError('The application was shut down while the lock was held.', {
          keys: [lease.name],
          reason: 'shutdown',
        }),
      );
    }
    // Requests under way count, too: their answers may be grants, to be given back.
    await this.until(() => this.size === 0 && this.cleanUps === 0, ABORT_GRACE);
    this.keeper.stop();
    this.waits.stop();
    this.outages.stop();
    await this.store.close();
  }

  private open(): void {
    if (this.opened) return;
    this.opened = true;
    this.store.open(this);
  }

  private queueOf(lease: Lease): LocalQueue | undefined {
    return this.attachments.queueOf(lease.owner) ?? this.queues.get(lease.name);
  }

  private async until(isQuiet: () => boolean, grace: number): Promise<void> {
    const end = this.clock.now() + grace;
    while (!isQuiet() && this.clock.now() < end) {
      await new Promise<void>((resolve) => void setTimeout(resolve, SHUTDOWN_POLL));
    }
  }

  private cleanUp(request: Promise<unknown>, warning: (problem: string) => string): Promise<void> {
    this.cleanUps++;
    return request.then(
      () => void this.cleanUps--,
      (error: unknown) => {
        this.cleanUps--;
        this.log.warn(warning(error instanceof Error ? error.message : String(error)));
      },
    );
  }

  private closedError(name: string): LockClosedError {
    return new LockClosedError('The application is shutting down and grants no more locks.', {
      keys: [name],
    });
  }
}
