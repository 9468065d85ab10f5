import type { LockInfo } from '../../../lib/store/lock-snapshot.interface.js';
import type { Attempt } from '../attempt.js';
import { mayJoin } from '../../support/may-hold-together.js';
import { CLOCK_SLACK, type Court, type Rule, TIMER_SLACK } from './court.js';

/**
 * A free lock is granted to one who waits: within a trip where nothing is wrong, within the re-ask after faults. So is
 * one that others hold where all who wait may join them. Where nothing is wrong, neither does the server keep a lock
 * that nobody uses, nor more holds of it than are used.
 */
export class WakeUpRule implements Rule {
  private readonly freeSince = new Map<string, number>();
  private readonly openSince = new Map<string, number>();
  private readonly keptSince = new Map<string, number>();
  private readonly matchedAt = new Map<string, number>();
  private readonly usedAt = new Map<string, number>();
  private readonly inUse = new Set<string>();
  /** The last hold of a name, by its place among all that happens. */
  private readonly last = new Map<string, number>();
  /** Names of which no more holds are kept than are used. */
  private readonly matched = new Set<string>();

  constructor(private readonly court: Court) {}

  beforeEvent(): void {
    const { time, names, expectations, quietSince, servers } = this.court;
    const { healing } = servers;
    // A counter may be ahead of a quorum's clocks if these differ: the first proposal is then too low.
    const rounds = servers.clockSpread > 0 ? 3 : 2;
    const trips = 2 * rounds * servers.longestTrip + TIMER_SLACK + CLOCK_SLACK;
    for (const name of this.inUse) this.usedAt.set(name, time.now);
    for (const name of this.matched) this.matchedAt.set(name, time.now);
    const idle = new Map<string, number>();
    for (const name of names) {
      const free = Math.max(this.freeSince.get(name) ?? 0, servers.contendedUntil);
      const used = Math.max(this.usedAt.get(name) ?? 0, servers.contendedUntil);
      if (expectations.prompt) this.assertNobodyOverlooked(name, free, trips);
      else this.assertNobodyOverlooked(name, Math.max(free, quietSince), healing + trips);
      if (expectations.prompt) this.assertNobodyOverlooked(name, used, trips);
      idle.set(name, time.now - Math.max(free, used, expectations.prompt ? 0 : quietSince));
      const orphaned = Math.max(used, this.keptSince.get(name) ?? time.now);
      if (expectations.calm) this.assertNothingOrphaned(name, orphaned, trips);
      if (expectations.calm)
        this.assertNothingOrphaned(name, this.matchedAt.get(name) ?? time.now, 2 * trips);
      if (expectations.tidy)
        this.assertNothingOrphaned(name, Math.max(orphaned, quietSince), healing + trips);
      const openSince = this.openSince.get(name);
      if (openSince === undefined) continue;
      const open = Math.max(openSince, servers.contendedUntil);
      if (expectations.prompt && !this.anyDead) this.assertNobodyOverlooked(name, open, trips);
      else this.assertNobodyOverlooked(name, Math.max(open, quietSince), healing + trips);
    }
    this.assertNoCallOverlooked(idle, expectations.prompt ? trips : healing + trips);
  }

  afterEvent(): void {
    for (const name of this.court.names) {
      const held = this.court.held(name);
      this.noteFree(name, held);
      this.noteOpen(name, held);
      this.noteUsed(name, held);
    }
  }

  private noteFree(name: string, held: readonly LockInfo[]): void {
    const { time } = this.court;
    const free = this.freeSince.get(name) ?? 0;
    if (held.length === 0) this.keptSince.delete(name);
    else if (!this.keptSince.has(name)) this.keptSince.set(name, time.now);
    const left = Math.max(...held.map(({ remaining = Infinity }) => remaining));
    this.freeSince.set(name, held.length > 0 ? time.now + left : Math.min(free, time.now));
  }

  /** Whether everybody who waits may join those who hold, so that nobody is rightly kept waiting by another. */
  private noteOpen(name: string, held: readonly LockInfo[]): void {
    const waiters = this.court.attempts.filter(
      ({ state, names, process }) => names.includes(name) && state === 'waiting' && process.alive,
    );
    if (held.length === 0 || !waiters.every(({ step }) => mayJoin(step, held))) this.openSince.delete(name);
    else if (!this.openSince.has(name)) this.openSince.set(name, this.court.time.now);
  }

  private noteUsed(name: string, held: readonly LockInfo[]): void {
    const { attempts } = this.court;
    const users = attempts.filter(({ step }) => step.name === name);
    const ofTheDead = held.filter(({ owner }) =>
      attempts.some(
        ({ caller, names, process }) => !process.alive && names.includes(name) && caller[0] === owner[0],
      ),
    ).length;
    // A call for several names keeps what it has while it waits for the rest.
    const kept = held.filter(({ owner }) =>
      attempts.some(
        ({ caller, names, state }) =>
          state === 'waiting' && names.length > 1 && names.includes(name) && caller[0] === owner[0],
      ),
    ).length;
    const using = kept + users.filter(isUsing).length;
    // A hold whose work takes no time is over before anybody looks.
    const last = Math.max(...users.map(({ lock, grantedAs }) => (lock ? grantedAs : 0)));
    if (last > (this.last.get(name) ?? 0)) this.usedAt.set(name, this.court.time.now);
    this.last.set(name, last);
    if (ofTheDead + using > 0) this.inUse.add(name);
    else this.inUse.delete(name);
    if (held.length <= ofTheDead + using) this.matched.add(name);
    else this.matched.delete(name);
  }

  private get anyDead(): boolean {
    return this.court.attempts.some(({ process }) => !process.alive);
  }

  private assertNobodyOverlooked(name: string, since: number, bound: number): void {
    const { time, attempts, fail } = this.court;
    const idle = time.now - since;
    if (idle <= bound) return;
    for (const { caller, state, step, names, process, startedAt } of attempts) {
      if (state !== 'waiting' || names.length > 1 || step.name !== name || !process.awake) continue;
      const waited = (process.now() - Math.max(startedAt, process.wokeAt)) / process.rate;
      if (waited > bound)
        fail(`${caller} waits for ${name}, which nobody has used for ${idle.toFixed(1)} ms`);
    }
  }

  /** A call whose names are all idle gets them, each within the bound. */
  private assertNoCallOverlooked(idle: ReadonlyMap<string, number>, bound: number): void {
    const { attempts, fail } = this.court;
    for (const { caller, state, names, process, startedAt } of attempts) {
      if (state !== 'waiting' || names.length === 1 || !process.awake) continue;
      const since = Math.min(...names.map((name) => idle.get(name) ?? 0));
      const waited = (process.now() - Math.max(startedAt, process.wokeAt)) / process.rate;
      if (Math.min(since, waited) > 2 * names.length * bound)
        fail(`${caller} waits for ${names.join(' and ')}, which nobody has used for ${since.toFixed(1)} ms`);
    }
  }

  private assertNothingOrphaned(name: string, since: number, bound: number): void {
    const { time, servers, attempts, fail } = this.court;
    const wanted = attempts.some(({ state, names }) => names.includes(name) && state === 'waiting');
    const idle = time.now - since;
    if (wanted || idle <= bound) return;
    const [holder] = servers.query(name).held;
    if (holder) fail(`${holder.owner} has kept ${name} for ${idle.toFixed(1)} ms without using it`);
  }
}

/** Its work has not ended, or `minHold` has not. */
function isUsing({ state, process, step, lock, grantedAt }: Attempt): boolean {
  if (!process.alive || !lock) return false;
  return state === 'holding' || process.now() < grantedAt + step.minHold;
}
