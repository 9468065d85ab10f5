import type { LockGrantedHow } from '../../diagnostics/lock-events.interface.js';
import type { Grant, Taken } from '../../store/grant.js';
import type { Callers, GrantedBy } from './callers.js';
import { Lease } from '../hold/lease.js';
import type { QueueContext } from './queue-context.js';
import { SharedTurn } from './shared-turn.js';
import type { Turn } from './turn.js';
import { isKnownEnough } from './waiter.js';

/** The last answer that somebody else has the lock, when its request was sent, and when it came. */
export interface Found extends Taken {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * What follows a grant.
 *
 * - held: the first caller has the lock. The turn is over.
 * - over: nothing of the turn is left to wait for, but there may be others.
 * - unsure: it cannot be relied on yet; asking again confirms and renews it.
 * - late: it was made before the last answer, and is out of date.
 * - rest: the callers have what could be had, and what is left of the turn waits on.
 */
export type Sequel = 'held' | 'over' | 'unsure' | 'late' | 'rest';

/** What is known of a name in the store, and what the callers here are granted of it. */
export class Grants {
  /** Who had the lock when the store answered last, since the name was idle. */
  found: Found | undefined;
  /** Whether somebody, here or elsewhere, has had the lock since the name was last idle. */
  hasSeenTaken = false;
  /** The highest token of this name that was noted by `spend`. */
  private spent = 0;
  /** Owner ids of grants that were taken away before they were known here. */
  private revoked: Set<string> | undefined;

  constructor(
    private readonly name: string,
    private readonly context: QueueContext,
    private readonly callers: Callers,
  ) {}

  /** Somebody else has the lock. */
  find(taken: Taken, sentAt: number): Found {
    this.hasSeenTaken = true;
    return (this.found = { ...taken, sentAt, answeredAt: this.context.clock.now() });
  }

  /** A grant up to this token is none to wait for. Undefined before the store has told this instance to wait. */
  get spentOfName(): number | undefined {
    return this.found && Math.max(this.found.tokenFloor, this.spent);
  }

  spend(token: number): void {
    this.spent = Math.max(this.spent, token);
  }

  /** The lock was taken away by force, which may be told before the answer that granted it. */
  revoke(owner: string): void {
    (this.revoked ??= new Set()).add(owner);
  }

  /** The name is idle. */
  forget(): void {
    this.found = undefined;
    this.hasSeenTaken = false;
    this.revoked = undefined;
  }

  /**
   * Takes up a grant by hand-off. It was made after the last request that found this instance waiting, so its
   * lease began after that request was sent: no agreement of clocks is needed to tell that it is too old.
   * A grant whose token is not beyond that answer's `tokenFloor` was made before, and is out of date.
   */
  claim(turn: Turn, grant: Grant, claimTtl: number): Sequel {
    const { found } = this;
    if (found && grant.token <= found.tokenFloor) {
      // Without hand-offs, the store may still keep it on some of its servers.
      if (found.tokenFloor === Infinity) this.context.giveBack(this.name, grant, claimTtl);
      return 'late';
    }
    return this.take(turn, grant, claimTtl, found?.sentAt ?? -Infinity, 'hand-off');
  }

  /** The lock is this instance's. It was asked for with `ttl` at `sentAt`, maybe by a caller who has left since. */
  take(turn: Turn, grant: Grant, ttl: number, sentAt: number, by: GrantedBy): Sequel {
    const now = this.context.clock.now();
    const head = this.callers.line.first;
    if (grant.turn === undefined && this.revoked?.delete(grant.owner)) {
      this.context.spend(this.name, grant.token);
      return 'unsure';
    }
    if (!head || !turn.serves(head)) {
      turn.decline(grant);
      return 'over';
    }
    const lease = new Lease(this.name, grant, ttl, sentAt);
    // Too little is left, or it cannot be told, or too few replicas know.
    if (lease.deadline - now < ttl / 4 || !isKnownEnough(grant, head)) {
      turn.note(grant, ttl, turn.notedLike(grant)?.since ?? now);
      return 'unsure';
    }
    lease.how = this.howOf(turn, by);
    this.hasSeenTaken = true;
    if (turn instanceof SharedTurn) return this.share(turn, grant, lease, by);
    this.found = undefined;
    this.callers.take(lease, ttl, by);
    return 'held';
  }

  /** The holds of a turn, one for each of the callers at the head of the line; `first` is the lease of the first one. */
  private share(turn: SharedTurn, grant: Grant, first: Lease, by: GrantedBy): Sequel {
    const { ttl } = first;
    const unwanted = turn.deliver(grant, first, by, this.revoked);
    const hasRest = turn.moveToRest(grant);
    const head = this.callers.line.first;
    const isWanted = hasRest && head !== undefined && turn.suits(head);
    // Before anything is given back, which would come to this place.
    if (hasRest && !isWanted) turn.leave();
    for (const each of unwanted) this.context.giveBack(this.name, each, ttl);
    if (!hasRest) this.found = undefined;
    return isWanted ? 'rest' : 'over';
  }

  private howOf(turn: Turn, by: GrantedBy): LockGrantedHow {
    if (by === 'yield') return 'local';
    if (by === 'hand-off') return 'hand-off';
    if (!this.found) return 'free';
    // Handed off while asking: the answer only confirms it.
    return turn.noted ? 'hand-off' : 're-ask';
  }
}
