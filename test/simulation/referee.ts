import { LockTimeoutError } from '../../lib/errors/lock-timeout.error.js';
import { isLockError, LockUnavailableError } from '../../lib/errors/lock.error.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import type { LockInfo } from '../../lib/store/lock-snapshot.interface.js';
import type { Attempt } from './attempt.js';
import type { EventLog } from './event-log.js';
import { AdoptionRule } from './rules/adoption.rule.js';
import { partOf } from './part-of-lock.js';
import { ArrivalRule } from './rules/arrival.rule.js';
import type { Court, Rule } from './rules/court.js';
import { ExclusionRule } from './rules/exclusion.rule.js';
import { LossRule } from './rules/loss.rule.js';
import { OrderRule } from './rules/order.rule.js';
import { RevivalRule } from './rules/revival.rule.js';
import { TokenRule } from './rules/token.rule.js';
import { WaitRule } from './rules/wait.rule.js';
import { WakeUpRule } from './rules/wake-up.rule.js';
import type { AcquireStep, Expectations } from './schedule.js';
import type { Servers } from './servers.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { VirtualTime } from './virtual-time.js';

interface RefereeSettings {
  readonly time: VirtualTime;
  readonly servers: Servers;
  readonly log: EventLog;
  readonly expectations: Expectations;
  readonly quietSince: number;
}

/** An acquire that was given up by its caller. */
export class GivenUp extends Error {}

/** Keeps the record of every waiter and every hold, and has the rules look at it. */
export class Referee {
  private readonly attempts: Attempt[] = [];
  private readonly names = new Set<string>();
  private readonly losses: LossRule;
  private readonly exclusion: ExclusionRule;
  private readonly rules: readonly Rule[];
  /** What the servers keep now, by name. */
  private readonly held = new Map<string, readonly LockInfo[]>();
  private events = 0;
  private failure: Error | undefined;

  constructor(private readonly settings: RefereeSettings) {
    const { attempts, names } = this;
    const court: Court = {
      ...settings,
      attempts,
      names,
      held: (name) => this.heldOf(name),
      fail: (what) => this.fail(what),
    };
    this.losses = new LossRule(court);
    this.exclusion = new ExclusionRule(court);
    this.rules = [
      this.exclusion,
      new TokenRule(court),
      new ArrivalRule(court),
      new WaitRule(court),
      new WakeUpRule(court),
      new OrderRule(court),
      new AdoptionRule(court),
      new RevivalRule(court),
      this.losses,
    ];
  }

  begins(caller: string, step: AcquireStep, process: SimulatedProcess, fresh: boolean): Attempt {
    const attempt: Attempt = {
      caller,
      step,
      names: [...new Set([step.name, ...(step.also ?? [])])],
      parts: [],
      process,
      begunAs: ++this.events,
      fresh,
      startedAt: process.now(),
      state: 'waiting',
      lock: undefined,
      grantedAs: 0,
      grantedAt: 0,
    };
    this.attempts.push(attempt);
    for (const name of attempt.names) this.names.add(name);
    const wait = step.wait === Infinity ? 'as long as it takes' : `${step.wait} ms`;
    const { limit } = step;
    const terms =
      limit === undefined ? '' : limit === Infinity ? ' to share' : ` beside ${limit - 1} at most`;
    this.settings.log.note(
      caller,
      `asks for ${attempt.names.join(' and ')}${terms}, ttl ${step.ttl} ms, waits ${wait}`,
    );
    return attempt;
  }

  /** One of several names of an attempt that has them all. */
  part(attempt: Attempt, name: string): Attempt {
    const part: Attempt = { ...attempt, step: { ...attempt.step, name }, names: [name], parts: [] };
    attempt.parts.push(part);
    this.attempts.push(part);
    return part;
  }

  granted(attempt: Attempt, lock: Lock): void {
    const { caller, step, process } = attempt;
    const left = lock.remaining.toFixed(1);
    this.settings.log.note(caller, `holds ${step.name} with token ${lock.fencingToken}, ${left} ms left`);
    if (attempt.state === 'aborted') this.fail(`${caller} was granted the lock after it had given up`);
    attempt.lock = lock;
    attempt.grantedAs = ++this.events;
    attempt.grantedAt = process.now();
    attempt.state = 'holding';
    for (const rule of this.rules) rule.granted?.(attempt, lock);
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
    this.settings.log.note(attempt.caller, `releases ${attempt.names.join(' and ')}`);
    for (const each of [attempt, ...attempt.parts]) each.state = 'over';
  }

  passes(attempt: Attempt): void {
    this.settings.log.note(attempt.caller, `lets go of ${attempt.names.join(' and ')}`);
    for (const each of [attempt, ...attempt.parts]) each.state = 'passing';
  }

  /** Goes on with its hold, in a process where it may be another one; the hold is as old as it was. */
  goesOn(attempt: Attempt, process: SimulatedProcess, lock: Lock): void {
    const { caller, step } = attempt;
    this.settings.log.note(caller, `goes on with ${step.name}, ${lock.remaining.toFixed(1)} ms left`);
    for (const each of [attempt, ...attempt.parts]) {
      const part = partOf(lock, each.step.name);
      if (part.fencingToken !== each.lock?.fencingToken) this.fail(`${caller} got another token on its way`);
      each.process = process;
      each.lock = part;
      each.grantedAt = process.now();
      each.state = 'holding';
      this.exclusion.granted(each);
      this.losses.granted(each);
    }
  }

  /** Its hold ended on its way. */
  strayed(attempt: Attempt, why: unknown): void {
    const code = isLockError(why) ? why.code : String(why);
    this.settings.log.note(attempt.caller, `has lost ${attempt.step.name} on its way: ${code}`);
    if (!['LOCK_LOST', 'LOCK_UNAVAILABLE'].includes(code))
      this.fail(`${attempt.caller} strayed with ${code}`);
    for (const each of [attempt, ...attempt.parts]) each.state = 'over';
  }

  flushed(): void {
    this.settings.log.note('server', 'loses its data');
    this.losses.flushed();
  }

  revoked(name: string, owner: string): void {
    this.settings.log.note('operator', `takes ${name} from ${owner}`);
    this.losses.revoked(name, owner);
  }

  beforeEvent(): void {
    for (const rule of this.rules) rule.beforeEvent?.();
  }

  afterEvent(): void {
    this.held.clear();
    const live = this.attempts.filter(({ process }) => process.awake);
    for (const rule of this.rules) rule.afterEvent?.(live);
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

  assertNothingFailed(): void {
    if (this.failure) throw this.failure;
  }

  private heldOf(name: string): readonly LockInfo[] {
    let held = this.held.get(name);
    if (!held) this.held.set(name, (held = this.settings.servers.query(name).held));
    return held;
  }

  /** Keeps the first failure, since not everybody who could see it thrown passes it on. */
  private note(what: string): Error {
    if (!this.failure) {
      this.settings.log.note('referee', what);
      this.failure = new Error(`${what}.\n\n${String(this.settings.log)}`);
    }
    return this.failure;
  }
}
