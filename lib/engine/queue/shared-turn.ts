import type { Grant, SharedTerms } from '../../store/grant.js';
import { ownersOf } from '../../store/owner-id.js';
import { parsePlace, restOf } from '../../store/place.js';
import { hadBefore, isFrom, wholeTurn } from '../../store/turn-name.js';
import type { Callers, GrantedBy } from './callers.js';
import type { Lease } from '../hold/lease.js';
import type { QueueContext } from './queue-context.js';
import { Turn } from './turn.js';
import { isAlike, isKnownEnough, type Waiter } from './waiter.js';

/** Most shared holds that one turn asks for. */
const MAX_SHARES = 256;

/**
 * A turn for holds that others may have at the same time, one for each of the callers at the head of the line. What a
 * limit leaves of it keeps its place in the store's queue.
 */
export class SharedTurn extends Turn {
  private current: SharedTerms;
  /** Callers for whom it stands in the store's queue. */
  private owed = 0;

  constructor(name: string, context: QueueContext, callers: Callers, limit: number) {
    super(name, context, callers);
    this.current = { limit, turn: context.newTurn(callers.shares.tokensEach()) };
  }

  get terms(): SharedTerms {
    return this.current;
  }

  get isFresh(): boolean {
    return hadBefore(this.current.turn) === 0;
  }

  get tokens(): number {
    const { shares } = this.callers;
    return this.current.limit < Infinity ? shares.permitsFor(this.wanted) : this.wanted;
  }

  /** Whoever comes when all for whom it asked have what they want, by leases that were passed on, comes after other instances. */
  suits(waiter: Waiter): boolean {
    return this.serves(waiter) && (this.isFresh || this.owed > 0);
  }

  serves({ options: { mode, limit } }: Waiter): boolean {
    return mode === 'shared' && limit === this.current.limit;
  }

  override queue(waiter: Waiter, tokens: number): string {
    if (this.place === undefined) this.owed = this.wanted;
    return super.queue(waiter, tokens);
  }

  override passedOver(): void {
    this.owed--;
  }

  awaits({ turn }: Grant): boolean {
    return turn !== undefined && isFrom(turn, this.current.turn);
  }

  /** Whether a turn, or a part of one, belongs to this one. */
  includes(turn: string): boolean {
    return wholeTurn(this.current.turn) === wholeTurn(turn);
  }

  /** Leaving gives up the grant with its rest, to which it would be handed. */
  override decline(grant: Grant): void {
    if (this.restAfter(grant) === undefined) return super.decline(grant);
    this.forget(grant);
    this.leave();
  }

  /** What it was granted is given up with its place. */
  override giveUp(grant: Grant): Promise<void> {
    return this.restAfter(grant) === undefined ? super.giveUp(grant) : this.cancel();
  }

  /** Goes on with what a limit has left of it; false where that is nothing. */
  moveToRest(grant: Grant): boolean {
    const rest = this.restAfter(grant);
    const terms = rest === undefined ? undefined : parsePlace(rest).shared;
    this.place = rest;
    if (terms) this.current = terms;
    else this.giveBackNoted();
    return terms !== undefined;
  }

  /** Gives the callers at the head of the line a hold each; returns those that nobody wants. */
  deliver(grant: Grant, first: Lease, by: GrantedBy, revoked: Set<string> | undefined): readonly Grant[] {
    const { ttl } = first;
    this.forget(grant);
    const unwanted: Grant[] = [];
    const leases = ownersOf(grant).map((owner, i) =>
      i === 0 ? first : first.sibling(owner, grant.token + i),
    );
    for (const lease of leases) {
      const { owner, token } = lease;
      const head = this.callers.line.first;
      if (revoked?.delete(owner)) this.context.spend(this.name, lease.takeToken());
      else if (head && this.serves(head) && isKnownEnough(grant, head)) {
        this.owed--;
        this.callers.share(lease, ttl, by);
      } else unwanted.push({ owner, token, tokens: 1 });
    }
    return unwanted;
  }

  protected get placeless(): string {
    return this.context.store.place(0, MAX_SHARES, this.current);
  }

  /** How many callers at the head of the line want the same. */
  private get wanted(): number {
    const { line } = this.callers;
    return line.first ? line.leading(isAlike(line.first), MAX_SHARES) : 0;
  }

  private restAfter({ tokens }: Grant): string | undefined {
    return this.place === undefined ? undefined : restOf(this.place, tokens);
  }
}
