import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { isLockError } from '../../../lib/errors/lock.error.js';
import type { KeepRequest } from '../../../lib/store/mark.js';
import type { EventLog } from '../event-log.js';
import { CLOCK_SLACK, TIMER_SLACK } from '../rules/court.js';
import type { SimulatedProcess } from '../simulated-process.js';
import type { VirtualTime } from '../virtual-time.js';
import type { HoldStep, OnceExpectations, OnceStep } from './once-schedule.js';

/** Trips that a waiter needs from the end of the run: the notification, a read of the result, and leaving the queue. */
const SHARING_TRIPS = 5;
/** Trips after which a caller certainly waits at the server: two reads, an acquire, and the end of an earlier place. */
const QUEUEING_TRIPS = 10;

interface OnceRefereeSettings {
  readonly time: VirtualTime;
  readonly log: EventLog;
  readonly longestTrip: number;
  readonly expectations: OnceExpectations;
}

/** A call that gave up its wait. */
export class GivenUp extends Error {}

/** The error of work that fails. */
export class WorkFailed extends Error {}

/** A call of `once`, or a plain hold. */
export interface OnceCall {
  readonly caller: string;
  readonly step: OnceStep | HoldStep;
  readonly process: SimulatedProcess;
  readonly startedAt: number;
  /** On the clock of its process. */
  readonly startedLocally: number;
  state: 'waiting' | 'running' | 'over';
  gaveUp: boolean;
  /** Its lock, from the beginning of its work. */
  lock: Lock | undefined;
  /** Latest time at which it must have its result, because another run left one. */
  dueAt: number;
}

/** A result that the server said it keeps. */
interface Kept {
  readonly name: string;
  readonly token: number;
  readonly json: string;
  readonly from: number;
  /** When it expires by the option of the run, or was deleted. */
  until: number;
}

/** Observes all calls, and every request to keep a result at the moment at which the server executes it. */
export class OnceReferee {
  private readonly calls: OnceCall[] = [];
  private readonly kept: Kept[] = [];
  private failure: Error | undefined;

  constructor(private readonly settings: OnceRefereeSettings) {}

  begins(caller: string, step: OnceStep | HoldStep, process: SimulatedProcess): OnceCall {
    const call: OnceCall = {
      caller,
      step,
      process,
      startedAt: this.settings.time.now,
      startedLocally: process.now(),
      state: 'waiting',
      gaveUp: false,
      lock: undefined,
      dueAt: Infinity,
    };
    this.calls.push(call);
    this.settings.log.note(caller, `calls ${step.kind} of ${step.name}`);
    return call;
  }

  gaveUp(call: OnceCall): void {
    if (call.state !== 'waiting') return;
    this.settings.log.note(call.caller, 'gives up');
    call.gaveUp = true;
  }

  /** Checks at the beginning of work that nobody else works, and that no result is kept. */
  works(call: OnceCall, lock: Lock): void {
    const { caller, step, state, gaveUp } = call;
    this.settings.log.note(caller, `works with ${step.name}, token ${lock.fencingToken}`);
    if (state !== 'waiting') this.fail(`${caller} works twice`);
    if (gaveUp) this.fail(`${caller} works after it gave up`);
    call.state = 'running';
    call.lock = lock;
    const kept = this.keptNow(step.name);
    if (step.kind === 'once' && kept && lock.held && this.settings.expectations.keepsData)
      this.fail(`${caller} runs, although the result with token ${kept.token} is kept`);
  }

  /** The server has said whether it keeps a result. `owned` tells whether the owner had the lock before. */
  answered({ name, token, json }: KeepRequest, owned: boolean, isKept: boolean): void {
    const { log, time } = this.settings;
    log.note('server', `${isKept ? 'keeps' : 'rejects'} the result of token ${token} for ${name}`);
    if (!isKept) return;
    const earlier = this.keptNow(name);
    if (earlier?.token === token) return;
    // Called by the server, which has no caller to throw at.
    if (earlier) this.note(`Tokens ${earlier.token} and ${token} of ${name} both succeed within keep`);
    if (!owned) this.note(`The run with token ${token} keeps its result without the lock`);
    const runner = this.calls.find(({ step, lock }) => step.name === name && lock?.fencingToken === token);
    if (runner?.step.kind !== 'once') return void this.note(`Nobody has run with token ${token}`);
    this.kept.push({ name, token, json, from: time.now, until: time.now + runner.step.keep });
    if (this.settings.expectations.calm) this.demandSharing(name);
  }

  /** Somebody has deleted the result of a name, or of all names. */
  deleted(name?: string): void {
    const { log, time } = this.settings;
    log.note('server', `deletes the result of ${name ?? 'all names'}`);
    for (const kept of this.kept)
      if (name === undefined || kept.name === name) kept.until = Math.min(kept.until, time.now);
    for (const call of this.calls) if (name === undefined || call.step.name === name) call.dueAt = Infinity;
  }

  resolved(call: OnceCall, value: unknown): void {
    const { caller, step, lock, startedAt } = call;
    const json = JSON.stringify(value);
    const found = this.kept.filter((kept) => kept.name === step.name && kept.json === json);
    this.settings.log.note(caller, `has ${json}`);
    if (lock) {
      if (!found.some(({ token }) => token === lock.fencingToken))
        this.fail(`${caller} ran successfully, and its result is not kept`);
    } else if (!found.some(({ until }) => until >= startedAt)) {
      this.fail(`${caller} has ${json}, which was kept at no time of the call`);
    }
    call.state = 'over';
  }

  rejected(call: OnceCall, error: unknown): void {
    const { caller, step, lock, process, startedLocally, gaveUp } = call;
    const what = isLockError(error) ? error.code : String(error);
    this.settings.log.note(caller, `is rejected: ${what}`);
    call.state = 'over';
    const unexpected = (): never => this.fail(`${caller} was rejected with ${what}`);
    if (error instanceof GivenUp) return gaveUp ? undefined : unexpected();
    if (error instanceof WorkFailed) return lock ? undefined : unexpected();
    if (what === 'LOCK_UNAVAILABLE') return this.settings.expectations.calm ? unexpected() : undefined;
    if (what === 'LOCK_TIMEOUT') {
      const waited = process.now() - startedLocally;
      if (lock || step.kind === 'hold' || waited < step.wait - TIMER_SLACK) unexpected();
      return;
    }
    if (what !== 'LOCK_LOST' || !lock) return unexpected();
    if (this.keptNow(step.name)?.token === lock.fencingToken)
      this.fail(`${caller} was told that it lost its run, and its result is kept`);
    const endures = step.kind === 'hold' || (step.renew && step.maxHold === Infinity);
    if (this.settings.expectations.calm && endures) unexpected();
  }

  released(call: OnceCall): void {
    this.settings.log.note(call.caller, `releases ${call.step.name}`);
    call.state = 'over';
  }

  beforeEvent(): void {
    const { expectations, longestTrip, time } = this.settings;
    if (!expectations.calm) return;
    for (const { caller, step, process, startedLocally, state, dueAt } of this.calls) {
      if (state !== 'waiting' || !process.alive) continue;
      if (time.now > dueAt) this.fail(`${caller} still waits after a run has left its result`);
      const wait = step.kind === 'once' ? step.wait : Infinity;
      const slack = QUEUEING_TRIPS * longestTrip + TIMER_SLACK + CLOCK_SLACK;
      if (process.now() > startedLocally + wait + slack) this.fail(`${caller} waits longer than ${wait} ms`);
    }
  }

  afterEvent(): void {
    if (this.failure) throw this.failure;
    if (!this.settings.expectations.keepsData) return;
    const holders = new Map<string, string>();
    for (const { caller, step, lock, process, state } of this.calls) {
      if (state !== 'running' || !process.awake || !lock?.held) continue;
      const other = holders.get(step.name);
      if (other !== undefined) this.fail(`${other} and ${caller} work with ${step.name} at the same time`);
      holders.set(step.name, caller);
    }
  }

  atRest(): void {
    for (const { caller, process, state } of this.calls)
      if (process.alive && state !== 'over') this.fail(`${caller} is still ${state} when all is over`);
  }

  fail(what: string): never {
    throw this.note(what);
  }

  /** Keeps the first failure, because callers may swallow it. */
  note(what: string): Error {
    if (!this.failure) {
      this.settings.log.note('referee', what);
      this.failure = new Error(`${what}.\n\n${String(this.settings.log)}`);
    }
    return this.failure;
  }

  private keptNow(name: string): Kept | undefined {
    const { now } = this.settings.time;
    return this.kept.find((kept) => kept.name === name && kept.from <= now && kept.until > now);
  }

  /** All calls that wait by now must have the result at once, not one after the other. */
  private demandSharing(name: string): void {
    const { longestTrip, time } = this.settings;
    const dueAt = time.now + SHARING_TRIPS * longestTrip + TIMER_SLACK;
    for (const call of this.calls) {
      const waits = call.state === 'waiting' && call.step.kind === 'once' && call.step.name === name;
      if (waits && call.startedAt < time.now - QUEUEING_TRIPS * longestTrip) call.dueAt = dueAt;
    }
  }
}
