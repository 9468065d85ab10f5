import { answerWithin } from '../../primitives/answer-within.js';
import type { ScheduledCall } from '../../primitives/clock.js';
import type { Grant } from '../../store/grant.js';
import { instanceOf, ownersOf, turnOf } from '../../store/owner-id.js';
import { isRefusal } from '../../store/store-errors.js';
import type { ShareRequest } from '../../store/lock-store.js';
import type { HeldLeases } from '../hold/held-leases.js';
import type { Hold } from '../hold/hold.js';
import type { Lease, LeaseSharing } from '../hold/lease.js';
import { expiredError, forcedError, takenError } from '../lock-errors.js';
import type { Callers } from './callers.js';
import { type Contender, MAX_REASK_DELAY, RETRY_DELAY } from './contender.js';
import type { QueueContext } from './queue-context.js';
import { MAX_SHARES } from './shared-turn.js';
import type { Waiter } from './waiter.js';

/** Milliseconds for which a release waits for the answer. */
const RELEASE_PATIENCE = 1_000;

/** The queue whose callers have the leases. */
export interface SharingQueue extends Pick<Callers, 'line' | 'share' | 'watchOutage' | 'rejectAttempts'> {
  readonly name: string;
  readonly leases: HeldLeases;
  readonly contender: Contender;
  passOnInMemory(lease: Lease, head: Waiter, now: number): void;
  /** Goes on after leases were given back, or may be shared. */
  askOn(): void;
  goOn(): void;
}

/** Who may read behind the reader that uses the lock alone. */
interface Readers {
  /** Whether the store has refused to let others in. */
  isRefused: boolean;
  mayServe(waiter: Waiter): boolean;
}

/**
 * Turns the lease of the lock alone, which a reader uses, into one that it shares, and gets leases for the readers that wait
 * behind it with the same request.
 *
 * While there is no answer, the lock is one owner id's or the other's. So the lease is renewed under the one that is known, which
 * tells nothing where it fails; and where the hold ends meanwhile, both are released.
 */
export class Sharing implements LeaseSharing {
  private readonly request: ShareRequest;
  private readonly sentAt: number;
  private answer: Promise<void> | undefined;
  private isUnsure = false;
  private next: ScheduledCall | undefined;

  constructor(
    private readonly lease: Lease,
    private readonly hold: Hold,
    private readonly context: QueueContext,
    private readonly queue: SharingQueue,
    private readonly readers: Readers,
  ) {
    const { name, owner, ttl } = lease;
    const tokens = 1 + queue.line.leading((waiter) => readers.mayServe(waiter), MAX_SHARES - 1);
    this.request = { name, owner, ttl, tokens, shared: { limit: Infinity, turn: context.newTurn(1) } };
    this.sentAt = context.clock.now();
    // A shorter lease is in force from then on.
    lease.request(ttl, this.sentAt);
    context.keeper.add(lease);
  }

  ask(): Promise<void> {
    this.queue.contender.contact.noteSilence(this.context.clock.now());
    this.queue.watchOutage();
    return (this.answer ??= this.send().finally(() => (this.answer = undefined)));
  }

  async answered(patience: number): Promise<void> {
    await answerWithin(this.context.clock, this.ask(), patience).catch(() => undefined);
  }

  async release(): Promise<void> {
    const { context, lease, hold, queue } = this;
    if (this.answer) await this.answered(RELEASE_PATIENCE);
    if (lease.sharing !== this || !lease.live) return hold.owner.release(hold);
    const rest = hold.startedAt + hold.options.minHold - context.clock.now();
    // Whoever has released does not wait for it; the lease goes on, and whose it is may be known by then.
    if (rest > 0)
      return void context.clock.schedule(() => void this.release(), Math.min(rest, RELEASE_PATIENCE));
    queue.leases.end(lease);
    const freed = this.free();
    queue.goOn();
    return freed;
  }

  /** In this order: once the one owner id is released, a late request gives the lock to the other no more. */
  free(): Promise<void> {
    const { context } = this;
    const { name, owner, ttl, tokens, shared } = this.request;
    const place = context.store.place(0, tokens, shared);
    return context.takeBack(name, ttl, async () => {
      await context.store.release(name, owner);
      await context.store.cancel(name, place);
    });
  }

  /** The holds were taken away by force, which may be told before the answer that granted them. */
  revoke(owner: string): void {
    const { lease, queue, request } = this;
    const isOwn = instanceOf(owner) === instanceOf(request.owner) && turnOf(owner) === request.shared.turn;
    if (isOwn) queue.leases.lose(lease, forcedError(lease.names), true);
  }

  private async send(): Promise<void> {
    const { context, lease } = this;
    try {
      this.hear(await context.store.share?.(this.request));
    } catch (error) {
      if (isRefusal(error) && !this.isUnsure) return this.stayAlone();
      this.isUnsure = true;
      context.clock.cancel(this.next);
      this.next = context.clock.schedule(
        () => {
          const isUsed = lease.hold && context.clock.now() < lease.deadline;
          if (lease.live && isUsed && !context.isClosing) void this.ask();
        },
        isRefusal(error) ? MAX_REASK_DELAY : RETRY_DELAY,
      );
    }
  }

  /** Nothing has been done, and never will be. */
  private stayAlone(): void {
    const { lease, queue, readers } = this;
    lease.sharing = undefined;
    readers.isRefused = true;
    if (!lease.live) return;
    queue.contender.contact.endSilence();
    queue.rejectAttempts();
  }

  private hear(grant: Grant | undefined): void {
    const { context, lease, queue } = this;
    if (!lease.live) return grant && void this.free();
    queue.contender.contact.endSilence();
    const first = grant && lease.successor(grant, this.request.ttl, this.sentAt);
    if (!first) return queue.leases.lose(lease, takenError(lease.names), true);
    if (context.clock.now() >= first.deadline)
      return queue.leases.lose(lease, expiredError(lease.names), false);
    this.goOn(first);
    this.deliver(grant, first);
    queue.askOn();
  }

  /** The hold goes on, with a lease that it shares. */
  private goOn(first: Lease): void {
    const { context, hold, lease, queue } = this;
    const isUsed = lease.hold === hold;
    lease.sharing = undefined;
    queue.leases.end(lease);
    queue.leases.share(first);
    hold.moveTo(queue.leases, first);
    if (!isUsed) first.hold = undefined;
    context.keeper.add(first);
  }

  /** The readers behind it, as far as they still wait, get the other leases, unless too little is left of them. */
  private deliver(grant: Grant, first: Lease): void {
    const { context, queue } = this;
    const { name, ttl } = this.request;
    const isFresh = first.deadline - context.clock.now() >= ttl / 4;
    for (const [i, owner] of ownersOf(grant).entries()) {
      if (i === 0) continue;
      const head = queue.line.first;
      const token = grant.token + i;
      if (isFresh && head && this.readers.mayServe(head))
        queue.share(first.sibling(owner, token), ttl, 'answer');
      else context.giveBack(name, { owner, token, tokens: 1 }, ttl);
    }
  }
}
