import { isSharedOwner } from '../../../lib/store/owner-id.js';
import type { Attempt } from '../attempt.js';
import { ownerOf } from '../part-of-lock.js';
import { CLOCK_SLACK, type Court, type Rule, TIMER_SLACK } from './court.js';

/** What is known of a hold that has not been released. */
interface Watched {
  /** Until when it was certain when last seen, on the clock of its process. */
  certainUntil: number;
  /** Since when it does not report `held`. */
  lostAt: number | undefined;
}

/**
 * A hold is lost for a reason and its holder is told in time: the signal aborts when `held` ends, never before the
 * lease could have, and where data was lost, by the next renewal, or at once when the lock was taken by force.
 */
export class LossRule implements Rule {
  private readonly holds = new Map<Attempt, Watched>();
  private readonly toBeTold = new Map<Attempt, number>();

  constructor(private readonly court: Court) {}

  granted(attempt: Attempt): void {
    this.holds.set(attempt, { certainUntil: -Infinity, lostAt: undefined });
  }

  /** The server has forgotten everything. */
  flushed(): void {
    for (const attempt of this.holds.keys()) {
      const { step } = attempt;
      if (!step.renew) continue;
      this.demandNotice(attempt, Math.max(step.ttl, step.minHold, step.extend?.ttl ?? 0) / 3);
    }
  }

  /** An operator has taken the lock of `owner`. */
  revoked(name: string, owner: string): void {
    const token = Number(owner.slice(owner.indexOf(':') + 1));
    for (const attempt of this.holds.keys()) {
      const { step, caller, lock } = attempt;
      // Not others of the same instance, which the server may have forgotten before.
      const holds = isSharedOwner(owner)
        ? ownerOf(lock) === owner
        : caller[0] === owner[0] && (lock?.fencingToken ?? 0) >= token;
      if (step.name === name && holds) this.demandNotice(attempt, 0);
    }
  }

  afterEvent(): void {
    for (const [attempt, watched] of this.holds) {
      if (attempt.state !== 'holding' || !attempt.process.alive) this.forget(attempt);
      else if (attempt.process.awake) this.look(attempt, watched);
    }
  }

  private demandNotice(attempt: Attempt, delay: number): void {
    const { time, servers, expectations } = this.court;
    if (!expectations.undisturbed || this.toBeTold.has(attempt)) return;
    this.toBeTold.set(attempt, time.now + delay + 4 * servers.longestTrip + TIMER_SLACK + CLOCK_SLACK);
  }

  private look(attempt: Attempt, watched: Watched): void {
    const { time, expectations, fail } = this.court;
    const { caller, step, process, lock, grantedAt } = attempt;
    if (!lock) return;
    const now = process.now();
    const { name } = step;
    if (lock.held) {
      // A renewal may be confirmed between the end of the lease and the timer that would have told of it.
      watched.lostAt = undefined;
      watched.certainUntil = now + lock.remaining;
      if (time.now > (this.toBeTold.get(attempt) ?? Infinity))
        fail(`${caller} has not been told that it lost ${name}`);
      return;
    }
    watched.lostAt ??= Math.max(now, process.wokeAt);
    if (!lock.signal.aborted && now > watched.lostAt + TIMER_SLACK)
      fail(`${caller} does not hold ${name} any more and its signal has not aborted`);
    const ended = now >= grantedAt + step.maxHold;
    if (
      expectations.exclusive &&
      watched.certainUntil > now + 1 &&
      !ended &&
      watched.lostAt === now &&
      !step.extend
    )
      fail(`${caller} lost ${name} although its lease was certain`);
    if (expectations.calm && step.renew && !ended) fail(`${caller} lost ${name}, and nothing had happened`);
  }

  private forget(attempt: Attempt): void {
    this.holds.delete(attempt);
    this.toBeTold.delete(attempt);
  }
}
