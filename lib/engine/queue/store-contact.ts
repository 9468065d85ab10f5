import type { Grant, Taken } from '../../store/grant.js';
import type { ScheduledCall } from '../../primitives/clock.js';
import type { QueueContext } from './queue-context.js';
import type { Turn } from './turn.js';
import type { Waiter } from './waiter.js';

/** What becomes of a request. */
interface Outcome<Reply> {
  readonly answer: (reply: Reply) => void;
  readonly fail: (error: unknown) => void;
  /** Servers have answered, and the request goes on. */
  readonly contended?: () => void;
}

/**
 * One name's requests to the store, one at a time: whether one is under way, when the next one is due, since when no
 * answer has come, and why.
 */
export class StoreContact {
  /** While a request is without an answer nobody knows what the store did. */
  isBusy = false;
  /** Somebody wants to ask again as soon as the answer is there. */
  isOutdated = false;
  private silence: number | undefined;
  private failure: unknown;
  private failedAt = -Infinity;
  private next: ScheduledCall | undefined;

  constructor(
    private readonly name: string,
    private readonly context: QueueContext,
  ) {}

  /** Since when the store has not answered; undefined while it does. */
  get silentSince(): number | undefined {
    return this.silence;
  }

  /** Grants that came since then too late to be used, again and again, are as good as no answer. */
  discountGrants(since: number | undefined): void {
    if (since !== undefined) this.silence = Math.min(since, this.silence ?? since);
  }

  /** Asks for what a turn wants. */
  acquire(
    turn: Turn,
    head: Waiter,
    spentOfName: number | undefined,
    now: number,
    outcome: Outcome<Grant | Taken>,
  ): void {
    const { highestSpentToken: spent, store } = this.context;
    const { ttl, replicas } = head.options;
    const { terms: shared, tokens } = turn;
    const place = head.once ? undefined : this.placeOf(turn, head, tokens);
    turn.askFor(ttl);
    this.send(now);
    store
      .acquire({
        name: this.name,
        ttl,
        tokens,
        shared,
        place,
        spent,
        spentOfName,
        replicas,
        onContention: outcome.contended,
      })
      .then(outcome.answer, outcome.fail);
  }

  /** Lets the store decide who goes on after the lease of `owner`. */
  yield(
    turn: Turn,
    owner: string,
    head: Waiter,
    now: number,
    outcome: Outcome<Grant | Taken | undefined>,
  ): void {
    const { ttl, replicas } = head.options;
    const { tokens } = turn;
    const place = this.placeOf(turn, head, tokens);
    turn.askFor(ttl);
    this.send(now);
    this.context.store
      .yield({ name: this.name, owner, ttl, tokens, place, replicas })
      .then(outcome.answer, outcome.fail);
  }

  /** Servers have answered, though the request goes on: the silence begins anew. */
  hear(now: number): void {
    this.silence = now;
  }

  /** The answer is there; the turn is not in doubt any more. */
  end(turn: Turn): void {
    this.isBusy = turn.isInDoubt = false;
    this.silence = this.failure = undefined;
  }

  fail(turn: Turn, error: unknown): void {
    this.isBusy = false;
    turn.isInDoubt = true;
    this.failure = error;
    this.failedAt = this.context.clock.now();
  }

  /** What went wrong before a caller came tells nothing of why it has no answer. */
  failureSince(time: number): unknown {
    return this.failedAt < time ? undefined : this.failure;
  }

  forgetFailure(): void {
    this.failure = undefined;
  }

  /** Calls back to ask again, in place of what was due before. */
  askIn(delay: number, ask: () => void): void {
    this.dontAsk();
    this.next = this.context.clock.schedule(ask, delay);
  }

  dontAsk(): void {
    this.context.clock.cancel(this.next);
  }

  /** Nobody asks any more. */
  rest(): void {
    this.dontAsk();
    this.silence = this.failure = undefined;
  }

  private send(now: number): void {
    this.isBusy = true;
    this.isOutdated = false;
    this.silence ??= now;
    this.dontAsk();
  }

  private placeOf(turn: Turn, head: Waiter, tokens: number): string | undefined {
    return this.context.store.canQueue(this.name) ? turn.queue(head, tokens) : undefined;
  }
}
