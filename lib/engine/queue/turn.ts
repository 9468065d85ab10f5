import type { Grant, SharedTerms } from '../../store/grant.js';
import { ownersOf } from '../../store/owner-id.js';
import type { Callers } from './callers.js';
import type { QueueContext } from './queue-context.js';
import type { Waiter } from './waiter.js';

/** Longest lease of a grant by hand-off before its first renewal: what a frozen waiter costs the others. */
const MAX_CLAIM = 3_000;

/** A grant that has to be confirmed by the answer of a request before it may be used. */
export interface UnconfirmedGrant {
  readonly grant: Grant;
  readonly ttl: number;
  /** Since when grants have come too late to be used. */
  readonly since: number;
}

/**
 * What this instance asks of the store in one go, for callers who want the same: from the first request until it is
 * granted, or left because nobody here wants it any more.
 */
export abstract class Turn {
  /** Its place in the store's queue; kept through re-asks. */
  place: string | undefined;
  /** After a failed request nobody knows whether it put this instance into the queue or even granted the lock. */
  isInDoubt = false;
  /** The longest lease that was asked for, in milliseconds. */
  private longest = 0;
  /** By part: after one for the part of a shared turn that is waited for there may be some for its rest. */
  private unconfirmed: Map<string | undefined, UnconfirmedGrant> | undefined;

  constructor(
    protected readonly name: string,
    protected readonly context: QueueContext,
    protected readonly callers: Callers,
  ) {}

  /** What it asks for; undefined for the lock alone. */
  abstract readonly terms: SharedTerms | undefined;

  /** Whether no part of it has been granted before. */
  abstract readonly isFresh: boolean;

  /** Fencing tokens, or shared holds, to ask for. */
  abstract readonly tokens: number;

  /** Whether it asks for what a caller wants. */
  abstract suits(waiter: Waiter): boolean;

  /** Whether it was granted what a caller wants; the first one need not be who asked for it any more. */
  abstract serves(waiter: Waiter): boolean;

  /** Whether a grant is for this turn, or for a part of it that comes later. */
  abstract awaits(grant: Grant): boolean;

  /** A request asks for a lease of so many ms. */
  askFor(ttl: number): void {
    this.longest = Math.max(this.longest, ttl);
  }

  /** Takes a place in the store's queue, if it has none. */
  queue({ options }: Waiter, tokens: number): string {
    return (this.place ??= this.context.store.place(Math.min(options.ttl, MAX_CLAIM), tokens, this.terms));
  }

  /** A caller at the head of the line was given a lease that was passed on. */
  passedOver(): void {}

  /** The grant for the part that is waited for now, if one has come. */
  get noted(): UnconfirmedGrant | undefined {
    return this.unconfirmed?.get(this.terms?.turn);
  }

  /** Whether there are grants for parts that come later. */
  get hasNotedLater(): boolean {
    return (this.unconfirmed?.size ?? 0) > (this.noted ? 1 : 0);
  }

  /** Keeps a grant until an answer confirms it; since when such came too late is kept, too. */
  note(grant: Grant, ttl: number, since: number): void {
    this.unconfirmed ??= new Map<string | undefined, UnconfirmedGrant>();
    this.unconfirmed.set(grant.turn, { grant, ttl, since });
  }

  /** What was noted before for the same part. */
  notedLike({ turn }: Grant): UnconfirmedGrant | undefined {
    return this.unconfirmed?.get(turn);
  }

  forget({ turn }: Grant): void {
    this.unconfirmed?.delete(turn);
  }

  /** Those for whom it asked have left. */
  leave(): void {
    if (this.place !== undefined || this.isInDoubt) void this.cancel();
    this.giveBackNoted();
  }

  /** The store has taken no notice of it. */
  leaveNoTrace(): void {
    this.place = undefined;
    this.isInDoubt = false;
  }

  /** Gives back what was granted when nobody here wants it any more, and so ends. */
  decline(grant: Grant): void {
    this.context.giveBack(this.name, grant, this.longest);
    this.forget(grant);
    this.giveBackNoted();
  }

  /** Gives a grant up that must not be used; settles when that is done. */
  async giveUp(grant: Grant): Promise<void> {
    await Promise.all(ownersOf(grant).map((owner) => this.context.free(this.name, owner, this.longest)));
  }

  /** Gives back what was granted to parts of it. */
  protected giveBackNoted(): void {
    for (const { grant, ttl } of this.unconfirmed?.values() ?? [])
      this.context.giveBack(this.name, grant, ttl);
    this.unconfirmed = undefined;
  }

  /** Leaves the store's queue, with what was granted there. */
  protected cancel(): Promise<void> {
    return this.context.cancel(this.name, this.place ?? this.placeless, this.longest);
  }

  /** What names a turn that did not queue. */
  protected abstract readonly placeless: string;
}
