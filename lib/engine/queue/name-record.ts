import type { LockHolder } from '../../errors/lock-timeout.error.js';
import { MAX_PERMITS } from '../../options/option-table.js';
import type { Grant } from '../../store/grant.js';
import type { Gap, LockStore } from '../../store/lock-store.js';
import { isSharedOwner, tokenOf } from '../../store/owner-id.js';
import { parsePlace } from '../../store/place.js';
import { closingError, timeoutError, unavailableError } from '../lock-errors.js';
import type { Lease } from '../hold/lease.js';
import type { Gaps } from './gaps.js';
import type { Effect } from './name-effect.js';
import { type BudgetLimits, type TakenReply, Budget, IDLE, type State, type Bid } from './bid.js';
import { isAlike, type Waiter, WaitingLine } from './waiter.js';

/** Settings and functions of the instance that the machines of all names use. */
export interface NameSurroundings {
  readonly budget: BudgetLimits;
  readonly gaps: Pick<Gaps, 'next' | 'note' | 'noteGrant' | 'reaskDelay'>;
  readonly store: Pick<LockStore, 'announcesGaps' | 'place' | 'trouble' | 'wakesBy'>;
  /** The highest token of a lease or grant that has ended in this instance. */
  readonly endedToken: number;
  noteEndedToken(token: number): void;
}

const NO_EFFECTS: readonly Effect[] = [];

/** Everything that one instance knows about one name, with the time and the effects of the current event. */
export class NameRecord {
  state: State = IDLE;
  readonly line = new WaitingLine();
  /**
   * The leases beside the state, by owner id: shared ones, and those that came from another instance. Made on demand,
   * because most names have none.
   */
  private others: Map<string, Lease> | undefined;
  /** The last reply since the name was idle which reported that another owner has the lock. */
  takenReply: TakenReply | undefined;
  /** Whether the lock had a holder, here or elsewhere, since the name was last idle. */
  hasSeenTaken = false;
  /** The highest token of this name whose lease or grant has ended here. */
  endedToken = 0;
  /** All shared holds with tokens up to this one are known here; Infinity before the first request for one. */
  since = Infinity;
  /** Greater tokens of shared holds that have ended here. */
  private ended: readonly number[] = [];
  /** Owner ids of grants that were revoked before they were known here. */
  revoked: Set<string> | undefined;
  /** Since when the store has not answered; undefined while it does. */
  silentSince: number | undefined;
  /** The error of the last request, if the store has not answered since. */
  failure: { readonly cause: unknown; readonly at: number } | undefined;
  /** The time of the current event. */
  now = -Infinity;
  private effects: Effect[] | undefined;
  /** Only this name, as holds and errors list it. */
  readonly keys: readonly string[];
  readonly budget: Budget;

  constructor(
    readonly name: string,
    readonly instance: NameSurroundings,
    /** Reports that a request for the exclusive lock continues, because several instances contend for the lock. */
    readonly onContention?: () => void,
  ) {
    this.keys = [name];
    this.budget = new Budget(instance.budget);
  }

  get bid(): Bid | undefined {
    const { state } = this;
    return state.kind === 'idle' || state.kind === 'held' ? undefined : state.bid;
  }

  /** The lease of the exclusive lock. */
  get exclusiveLease(): Lease | undefined {
    const { state } = this;
    return (state.kind === 'held' || state.kind === 'yielding') && state.lease.isLive
      ? state.lease
      : undefined;
  }

  /** Whether a request is unanswered, so that the state in the store is unknown. */
  get isBusy(): boolean {
    const { kind } = this.state;
    return kind === 'asking' || kind === 'yielding' || kind === 'returning';
  }

  /** Whether a caller here or another instance is known to have the lock. */
  get isTaken(): boolean {
    return this.state.kind === 'held' || (this.takenReply !== undefined && !this.isBusy);
  }

  /** Whether a request for the exclusive lock continues. */
  get wantsExclusive(): boolean {
    const { bid } = this;
    return bid !== undefined && bid.terms === undefined;
  }

  get hasLeases(): boolean {
    return this.exclusiveLease !== undefined || (this.others?.size ?? 0) > 0;
  }

  *leases(): Generator<Lease> {
    const { exclusiveLease } = this;
    if (exclusiveLease) yield exclusiveLease;
    if (this.others) yield* this.others.values();
  }

  leaseOf(owner: string): Lease | undefined {
    const { exclusiveLease } = this;
    return exclusiveLease?.owner === owner ? exclusiveLease : this.others?.get(owner);
  }

  /** Keeps a lease beside the state. */
  keep(lease: Lease): void {
    (this.others ??= new Map<string, Lease>()).set(lease.owner, lease);
  }

  /** Passes no lease on any more whose lock was free when requested: its callers must not overtake others that wait. */
  notePossibleWaiters(): void {
    for (const lease of this.others?.values() ?? []) if (lease.passing?.wasFree) lease.passing = undefined;
  }

  /** Whether a lease is kept beside the state. */
  isOther(lease: Lease): boolean {
    return this.others?.has(lease.owner) === true;
  }

  /** Whether the bid may still adopt a grant that the store keeps with this owner id. */
  mayAdopt(owner: string): boolean {
    const { bid } = this;
    return bid?.awaits(owner) === true && (!bid.terms || tokenOf(owner) > this.since);
  }

  /** Number of waiters with equal terms at the head of the line. */
  get wanted(): number {
    const { first } = this.line;
    return first ? this.line.leading(isAlike(first), Math.floor(MAX_PERMITS / first.options.permits)) : 0;
  }

  /** Fencing tokens, or shared holds, that a bid requests. A bid that has a place does not want more than before. */
  wantedBy({ hasServed, place, terms, unserved }: Bid): number {
    const { line, wanted } = this;
    if (!terms) return line.size <= 1 ? 1 : this.budget.tokens(line.size);
    if (place === undefined) return wanted;
    return Math.min(wanted, parsePlace(place).wanted, hasServed ? unserved : Infinity);
  }

  /** Tokens beyond `since` of the shared holds that live here, or have ended here. */
  get knownTokens(): readonly number[] {
    const live = [...(this.others?.values() ?? [])].flatMap(({ ownerToken }) =>
      ownerToken > this.since ? ownerToken : [],
    );
    return [...live, ...this.ended];
  }

  /** Whether a shared hold is no news: it lives here, or has ended here. */
  isKnown({ owner, token }: Grant): boolean {
    return this.leaseOf(owner) !== undefined || this.ended.includes(token);
  }

  /** Records that all shared holds with tokens up to this one are known here. */
  raiseSince(token: number): void {
    this.since = this.since === Infinity ? token : Math.max(this.since, token);
    if (this.ended.length > 0) this.ended = this.ended.filter((each) => each > this.since);
  }

  /** Records the token of a lease or grant that has ended here. */
  noteEnded(owner: string, token: number): void {
    this.endedToken = Math.max(this.endedToken, token);
    this.instance.noteEndedToken(token);
    if (token > this.since && isSharedOwner(owner)) this.ended = [...this.ended, token];
  }

  /** Records a reply, after which the state of the bid in the store is known. */
  noteReply(bid: Bid): void {
    bid.isInDoubt = false;
    this.silentSince = this.failure = undefined;
  }

  do(effect: Effect): void {
    if (this.effects) this.effects.push(effect);
    else this.effects = [effect];
  }

  /** Returns the effects of the current event, in order. */
  takeEffects(): readonly Effect[] {
    const { effects } = this;
    this.effects = undefined;
    return effects ?? NO_EFFECTS;
  }

  admit(waiter: Waiter, lease: Lease, renews: boolean): void {
    this.line.remove(waiter);
    this.do({ kind: 'admit', waiter, lease, token: lease.use(waiter.options), renews });
  }

  /** Grants a lease to a caller after another local caller. */
  admitLocally(waiter: Waiter, lease: Lease): void {
    const { minHold, renew, ttl } = waiter.options;
    const left = lease.deadline - this.now;
    lease.how = 'local';
    lease.ttl = ttl;
    // The caller gets its requested ttl, and not a longer one, so that others do not wait longer if its process dies.
    const isShort = left < Math.max(ttl / 3, minHold) && !lease.renewing;
    this.admit(waiter, lease, !renew || isShort || lease.isTooLong(this.now));
  }

  /** Ends a lease here. The caller of this method sets the next state. */
  end(lease: Lease): void {
    lease.state = 'ended';
    this.others?.delete(lease.owner);
    this.noteEnded(lease.owner, lease.ownerToken);
  }

  /** Ends a lease here, and releases it. The caller of this method sets the next state. */
  release(lease: Lease, gap?: Gap): void {
    this.end(lease);
    this.do({ kind: 'release', lease, gap });
  }

  /** Releases a grant that no caller wants. */
  returnGrant(grant: Grant, ttl: number): void {
    this.noteEnded(grant.owner, grant.token);
    this.do({ kind: 'return', grants: [grant], ttl, isAwaited: false });
  }

  reject(waiter: Waiter, error: unknown): void {
    this.line.remove(waiter);
    this.do({ kind: 'reject', waiter, error });
  }

  /** Rejects a waiter because another holder had the lock for the whole wait; the error names that holder. */
  timeOut(waiter: Waiter): void {
    if (waiter.isCutShort) return this.reject(waiter, closingError(this.keys));
    const { exclusiveLease: by, keys, now, takenReply } = this;
    const { options, startedAt } = waiter;
    const holder: LockHolder | undefined = by
      ? holderOf(by, now)
      : takenReply && { owner: takenReply.owner, remaining: takenReply.remaining };
    // Whether a holder elsewhere renews its lease is unknown.
    const retryAfter = by?.renew === false ? holder?.remaining : undefined;
    const call = { waited: now - startedAt, label: options.label };
    this.reject(waiter, timeoutError(keys, call, { holder, retryAfter }));
  }

  /** Rejects a waiter without a reply. A failure before its arrival is not the cause. */
  rejectUnanswered(waiter: Waiter): void {
    const { failure } = this;
    this.rejectUnavailable(waiter, failure && failure.at >= waiter.startedAt ? failure.cause : undefined);
  }

  /** @param cause undefined if the store knows the reason */
  rejectUnavailable(waiter: Waiter, cause: unknown): void {
    const { instance, keys, now } = this;
    const call = { waited: now - waiter.startedAt, label: waiter.options.label };
    this.reject(waiter, unavailableError(keys, cause ?? instance.store.trouble, call));
  }

  watchOutage(): void {
    const { line, silentSince } = this;
    if (silentSince !== undefined)
      this.do({ kind: 'check-outage', at: silentSince + line.shortestOutageTimeout });
  }

  /** Receives messages for the waiters, unless the first one does not wait. */
  listen(): void {
    if (this.line.first?.isAttempt === false) this.do({ kind: 'listen' });
  }
}

/** The holder of a lease of this instance, in errors. */
function holderOf({ deadline, hold, owner }: Lease, now: number): LockHolder {
  const label = hold?.describe(now).label;
  const remaining = Math.max(0, deadline - now);
  return { owner, remaining, ...(label === undefined ? {} : { label }) };
}
