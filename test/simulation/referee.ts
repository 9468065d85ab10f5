import type { Lock } from '../../lib/interfaces/lock.interface.js';
import { LockTimeoutError } from '../../lib/errors/lock-timeout.error.js';
import { LockUnavailableError } from '../../lib/errors/lock-unavailable.error.js';
import type { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import type { Attempt } from './attempt.js';
import type { EventLog } from './event-log.js';
import type { AcquireStep, Expectations } from './schedule.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { VirtualTime } from './virtual-time.js';

/** What a waiter's timers may be late by: they go in whole milliseconds. */
const TIMER_SLACK = 3;
/** What a slow clock makes a re-ask late by. */
const CLOCK_SLACK = 10;
/** After faults: a request that was lost without notice, the reconnect, and a re-ask. */
const HEALING = 1_000 + 50 + 1_000 * 1.02;

export interface RefereeSettings {
  readonly time: VirtualTime;
  readonly server: MemoryLockServer;
  readonly log: EventLog;
  readonly expectations: Expectations;
  readonly quietSince: number;
  readonly longestTrip: number;
}

/** An acquire that was given up by its caller. */
export class GivenUp extends Error {}

/** Watches every hold and every waiter, and says what must never happen. */
export class Referee {
  private readonly attempts: Attempt[] = [];
  private readonly names = new Set<string>();
  private readonly freeSince = new Map<string, number>();
  private events = 0;
  private failure: Error | undefined;

  constructor(private readonly settings: RefereeSettings) {}

  begins(caller: string, step: AcquireStep, process: SimulatedProcess, fresh: boolean): Attempt {
    const attempt: Attempt = {
      caller,
      fresh,
      step,
      process,
      begunAs: ++this.events,
      startedAt: process.now(),
      state: 'waiting',
      lock: undefined,
      grantedAs: 0,
    };
    this.attempts.push(attempt);
    this.names.add(step.name);
    const wait = step.wait === Infinity ? 'as long as it takes' : `${step.wait} ms`;
    this.settings.log.note(caller, `asks for ${step.name}, ttl ${step.ttl} ms, waits ${wait}`);
    return attempt;
  }

  granted(attempt: Attempt, lock: Lock): void {
    const { caller, step } = attempt;
    const { log, expectations } = this.settings;
    attempt.lock = lock;
    attempt.grantedAs = ++this.events;
    log.note(
      caller,
      `holds ${step.name} with token ${lock.fencingToken}, ${lock.remaining.toFixed(1)} ms left`,
    );
    if (attempt.state === 'aborted') this.fail(`${caller} was granted the lock after it had given up`);
    attempt.state = 'holding';
    this.assertTokensGrow(attempt, lock);
    this.assertArrivalOrder(attempt);
    if (expectations.exclusive) this.assertOthersKnow(attempt);
  }

  gaveUp(attempt: Attempt): void {
    if (attempt.state !== 'waiting') return;
    this.settings.log.note(attempt.caller, 'gives up');
    attempt.state = 'aborted';
  }

  refused(attempt: Attempt, error: unknown): void {
    const { caller, step, process, startedAt } = attempt;
    this.settings.log.note(caller, `is refused: ${error instanceof Error ? error.name : String(error)}`);
    const waited = process.now() - startedAt;
    if (error instanceof LockTimeoutError) {
      if (waited < step.wait - 1) this.fail(`${caller} timed out after ${waited} ms of ${step.wait}`);
    } else if (error instanceof LockUnavailableError) {
      if (this.settings.expectations.calm) this.fail(`${caller} was told of an outage, and there was none`);
    } else if (!(error instanceof GivenUp)) {
      this.fail(`${caller} was refused with ${String(error)}`);
    }
    attempt.state = 'over';
  }

  released(attempt: Attempt): void {
    this.settings.log.note(attempt.caller, `releases ${attempt.step.name}`);
    attempt.state = 'over';
  }

  /** Called when time has passed, before what is due is done. */
  beforeEvent(): void {
    for (const name of this.names) this.assertNobodyOverlooked(name);
  }

  /** Called when everything that was due has been done. */
  afterEvent(): void {
    const live = this.attempts.filter(({ process }) => process.awake);
    this.assertDeadlines(live);
    for (const name of this.names) {
      this.noteFree(name);
      if (this.settings.expectations.exclusive) this.assertExclusion(name, live);
    }
    if (this.settings.expectations.calm) this.assertNothingLostForNothing(live);
  }

  /** Called when nothing is left to do. */
  atRest(): void {
    for (const { caller, state, process } of this.attempts) {
      if (process.alive && state !== 'over') this.fail(`${caller} is still ${state} when all is over`);
    }
  }

  rejectionUnhandled(reason: unknown): void {
    this.note(`A rejection was not handled: ${String(reason)}`);
  }

  fail(what: string): never {
    throw this.note(what);
  }

  /** Keeps the first failure, since not everybody who could see it thrown passes it on. */
  private note(what: string): Error {
    return (this.failure ??= new Error(`${what}.\n\n${String(this.settings.log)}`));
  }

  assertNothingFailed(): void {
    if (this.failure) throw this.failure;
  }

  private assertExclusion(name: string, live: readonly Attempt[]): void {
    const holders = live.filter(({ step, lock }) => step.name === name && lock?.held);
    if (holders.length > 1) {
      const who = holders.map(({ caller, lock }) => `${caller} (token ${lock?.fencingToken})`).join(' and ');
      this.fail(`${who} hold ${name} at the same time`);
    }
  }

  /**
   * A hold that was granted later has a greater token. Where data was lost, that is certain only of one that was
   * asked for later, by an instance without a lock: another may pass on a hold from before.
   */
  private assertTokensGrow(attempt: Attempt, { fencingToken }: Lock): void {
    for (const other of this.attempts) {
      if (other === attempt || other.step.name !== attempt.step.name || !other.lock) continue;
      if (other.lock.fencingToken === fencingToken)
        this.fail(`${attempt.caller} and ${other.caller} have the same token ${fencingToken}`);
      const before =
        this.settings.expectations.exclusive || (attempt.fresh && other.grantedAs < attempt.begunAs);
      if (before && other.lock.fencingToken >= fencingToken)
        this.fail(
          `${attempt.caller} has token ${fencingToken} after ${other.caller}'s ${other.lock.fencingToken}`,
        );
    }
  }

  private assertArrivalOrder(attempt: Attempt): void {
    const overtaken = this.attempts.find(
      ({ state, process, step, begunAs }) =>
        state === 'waiting' &&
        process === attempt.process &&
        step.name === attempt.step.name &&
        begunAs < attempt.begunAs,
    );
    if (overtaken) this.fail(`${attempt.caller} overtook ${overtaken.caller} within one instance`);
  }

  /** Wherever an earlier holder's process runs, its signal has aborted before the next hold begins. */
  private assertOthersKnow(attempt: Attempt): void {
    for (const other of this.attempts) {
      if (other === attempt || other.step.name !== attempt.step.name || other.state !== 'holding') continue;
      if (other.process.awake && !other.lock?.signal.aborted)
        this.fail(`${attempt.caller} holds ${attempt.step.name}, and ${other.caller} has not been told`);
    }
  }

  /** Whoever waits is answered when its time is over. */
  private assertDeadlines(live: readonly Attempt[]): void {
    for (const { caller, state, process, step, startedAt } of live) {
      if (state === 'aborted') this.fail(`${caller} gave up and is still waiting`);
      const limit = step.wait === 0 ? step.outageTimeout : step.wait;
      // A single attempt goes on for as long as answers come that have to be confirmed.
      const asked = step.wait === 0 ? process.answeredAt : -Infinity;
      const due = Math.max(startedAt + limit, asked + limit, process.wokeAt);
      if (state === 'waiting' && process.now() > due + TIMER_SLACK)
        this.fail(`${caller} still waits for ${step.name} after its ${limit} ms`);
    }
  }

  private assertNothingLostForNothing(live: readonly Attempt[]): void {
    for (const { caller, state, step, lock } of live) {
      if (state !== 'holding' || !step.renew || step.maxHold !== Infinity || lock?.held) continue;
      this.fail(`${caller} lost ${step.name}, and nothing had happened`);
    }
  }

  private noteFree(name: string): void {
    const { server, time } = this.settings;
    const [holder] = server.query(name).held;
    const free = this.freeSince.get(name) ?? 0;
    if (holder) this.freeSince.set(name, time.now + (holder.remaining ?? Infinity));
    else this.freeSince.set(name, Math.min(free, time.now));
  }

  /** A free lock is granted to one who waits: within a trip where nothing is wrong, within the re-ask after faults. */
  private assertNobodyOverlooked(name: string): void {
    const { time, quietSince, expectations, longestTrip } = this.settings;
    const free = Math.max(this.freeSince.get(name) ?? 0, expectations.calm ? 0 : quietSince);
    const trips = 4 * longestTrip + TIMER_SLACK + CLOCK_SLACK;
    const bound = expectations.prompt ? trips : HEALING + trips;
    if (time.now - free <= bound) return;
    for (const attempt of this.attempts) {
      if (attempt.state !== 'waiting' || attempt.step.name !== name || !attempt.process.awake) continue;
      const { process, startedAt } = attempt;
      const waited = (process.now() - Math.max(startedAt, process.wokeAt)) / process.rate;
      if (Math.min(waited, time.now - free) > bound)
        this.fail(
          `${name} is free and ${attempt.caller} waits, overlooked for ${(time.now - free).toFixed(1)} ms`,
        );
    }
  }
}
