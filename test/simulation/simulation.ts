import { isLockError, LockUnavailableError } from '../../lib/errors/lock.error.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import type { Attempt } from './attempt.js';
import { EventLog } from './event-log.js';
import { partOf } from './part-of-lock.js';
import { GivenUp, Referee } from './referee.js';
import {
  type AcquireStep,
  expectationsOf,
  PATIENT,
  type Pass,
  quietSince,
  type Schedule,
  type TimedStep,
} from './schedule.js';
import { assertNothingKept, type Instance, startInstances, watchingRejections } from './instance.js';
import { SimulatedQuorum } from './quorum/simulated-quorum.js';
import { type Servers, SingleServer } from './servers.js';
import { VirtualTime } from './virtual-time.js';

const MAX_EVENTS = 20_000;
/** Milliseconds by which the rules let timers and clocks be late, at least. */
const SLACK = 50;
/** Longer than any lease. */
const AFTERWARDS = 20_000;

const PROBE: AcquireStep = { ...PATIENT, ttl: 2_000, wait: 5_000, outageTimeout: 5_000 };

/** Plays steps on instances with exact clocks, a millisecond from the server, but for the given conditions. */
export function play(steps: readonly TimedStep[], conditions: Partial<Schedule> = {}): Promise<void> {
  return new Simulation({
    drifts: [0, 0],
    budget: { max: 1, window: 0 },
    latencies: [1],
    straggle: undefined,
    ...conditions,
    steps,
  }).run();
}

/** Instances of the engine on one server, with a network between them that a schedule plays with. */
export class Simulation {
  private readonly time = new VirtualTime();
  private readonly log = new EventLog(this.time);
  private readonly servers: Servers;
  private readonly referee: Referee;
  private readonly instances: Instance[];
  private callers = 0;
  /** The ways of holds from one instance to another. */
  private readonly ways: { attempt: Attempt; takers: readonly (Instance | undefined)[] }[] = [];

  constructor(private readonly schedule: Schedule) {
    const { log, time } = this;
    const { quorum } = schedule;
    const servers = quorum ? new SimulatedQuorum(time, schedule, quorum) : new SingleServer(time, schedule);
    this.servers = servers;
    this.referee = new Referee({
      time,
      servers,
      log,
      expectations: expectationsOf(schedule),
      quietSince: quietSince(schedule),
    });
    this.instances = startInstances(time, servers, schedule);
  }

  /** Runs the schedule to its end and past it, until nothing is left to do. Rejects when something went wrong. */
  async run(): Promise<void> {
    const rejected = (reason: unknown): void => this.referee.rejectionUnhandled(reason);
    await watchingRejections(rejected, async () => {
      this.arrange();
      await this.comeToRest();
      this.giveUpOnTheDead();
      this.referee.atRest();
      this.assertNothingLeft();
      await this.assertEveryNameUsable();
      this.assertNothingLeft();
    });
  }

  private arrange(): void {
    let moment = 0;
    for (const step of this.schedule.steps) {
      moment += step.after;
      this.time.at(moment, () => this.perform(step));
    }
    // The rules look at events only: without one, a lease that nobody uses would end unseen.
    const { healing, longestTrip } = this.servers;
    this.time.at(quietSince(this.schedule) + healing + 4 * longestTrip + SLACK, () => undefined);
  }

  private perform(step: TimedStep): void {
    const where = step.node === undefined ? '' : ` (node ${step.node})`;
    if (step.kind === 'flush') {
      this.referee.flushed();
      return this.servers.clear(step);
    }
    if (step.kind === 'forceRelease') {
      for (const { owner } of this.servers.query(step.name).held) this.referee.revoked(step.name, owner);
      return this.servers.forceRelease(step.name);
    }
    if (step.kind === 'refuse')
      return this.log.note('server', `answers with errors for ${step.lasts} ms${where}`);
    if (step.kind === 'pause') return this.log.note('server', `pauses for ${step.lasts} ms${where}`);
    const instance = this.instances[step.instance % this.instances.length];
    if (!instance?.process.alive) return;
    const { name, process, link } = instance;
    switch (step.kind) {
      case 'acquire':
        return process.run('timers', () => void this.acquire(instance, step));
      case 'crash':
        this.log.note(name, `crashes, noticed after ${step.noticedAfter} ms`);
        process.crash();
        this.time.after(step.noticedAfter, () => link.drop());
        return;
      case 'freeze':
        this.log.note(name, `is stopped for ${step.lasts} ms`);
        process.stop();
        this.time.after(step.lasts, () => {
          this.log.note(name, 'goes on');
          process.goOn(step.order);
        });
        return;
      case 'reset':
        this.log.note(name, `loses its connection for ${step.lasts} ms${where}`);
        return link.reset(step);
      case 'deafen':
        this.log.note(name, `loses its inbox for ${step.lasts} ms${where}`);
        return link.deafen(step);
      case 'deny':
        return this.log.note(
          name,
          `has its requests to ${step.what} denied for ${step.lasts} ms: ${step.reply}`,
        );
      case 'cut':
        return this.log.note(name, `has its ${step.what} lost for ${step.lasts} ms${where}`);
      case 'slow':
        return this.log.note(
          name,
          `has its ${step.what} delayed by ${step.by} ms for ${step.lasts} ms${where}`,
        );
    }
  }

  private acquire({ name, process, engine, service }: Instance, step: AcquireStep): Attempt {
    const { ttl, wait, outageTimeout, renew, minHold, maxHold, abortAfter } = step;
    const attempt = this.referee.begins(`${name}${++this.callers}`, step, process, engine.size === 0);
    const controller = new AbortController();
    if (abortAfter !== undefined) {
      process.schedule(() => {
        this.referee.gaveUp(attempt);
        controller.abort(new GivenUp());
      }, abortAfter);
    }
    const terms = step.limit === undefined ? {} : ({ mode: 'shared', limit: step.limit } as const);
    const options = {
      ttl,
      wait,
      outageTimeout,
      renew,
      minHold,
      maxHold,
      signal: controller.signal,
      ...terms,
    };
    service
      .acquire(step.also ? attempt.names : step.name, options)
      .then(
        (lock) => this.work(attempt, lock),
        (error: unknown) => this.referee.refused(attempt, error),
      )
      .catch(() => undefined);
    return attempt;
  }

  private work(attempt: Attempt, granted: Lock): void {
    const { process, step } = attempt;
    const lock = partOf(granted, step.name);
    this.referee.granted(attempt, lock);
    for (const name of attempt.names.slice(1))
      this.referee.granted(this.referee.part(attempt, name), partOf(granted, name));
    const release = (): void => this.end(attempt, lock);
    const { extend } = step;
    if (extend && extend.after < step.work)
      process.schedule(() => void lock.extend(extend.ttl).catch(() => undefined), extend.after);
    if (step.heedsSignal) lock.signal.addEventListener('abort', release);
    process.schedule(release, step.work);
    if (step.work === 0) release();
    const { pass } = step;
    if (pass && pass.after < step.work)
      process.schedule(() => void this.pass(attempt, lock, pass), pass.after);
  }

  /** Several instances want the hold, one of them may have it; where nobody lets go of it, it goes on where it is. */
  private async pass(
    attempt: Attempt,
    lock: Lock,
    { to, transit, takers: count = 2, apart = 0 }: Pass,
  ): Promise<void> {
    if (attempt.state !== 'holding' || !lock.held) return;
    const { process, step } = attempt;
    const detaching = lock.detach();
    this.referee.passes(attempt);
    let transfer: string;
    try {
      transfer = await detaching;
    } catch (error) {
      if (!lock.held) {
        void lock.release();
        return this.referee.strayed(attempt, error);
      }
      this.referee.goesOn(attempt, process, lock);
      return this.endAfter(step.work, attempt);
    }
    const validUntil = this.time.now + 0.9 * this.leaseLeft(attempt);
    const errors: unknown[] = [];
    const stray = (error: unknown): void => {
      errors.push(error);
      if (errors.length < count || attempt.state !== 'passing') return;
      // A taker that is told that the hold is gone must be right: another one has it, or its lease has ended.
      const isLost = errors.every((each) => isLockError(each) && each.code === 'LOCK_LOST');
      const { exclusive } = expectationsOf(this.schedule);
      if (isLost && exclusive && this.time.now < validUntil)
        this.referee.fail(`Nobody got the hold of ${attempt.caller}, whose lease has not ended`);
      this.referee.strayed(attempt, error);
    };
    const takers = Array.from({ length: count }, (_, i) => this.instances[(to + i) % this.instances.length]);
    this.ways.push({ attempt, takers });
    for (const [i, taker] of takers.entries()) {
      this.time.after(transit + i * apart, () => {
        if (!taker?.process.alive) return stray(new LockUnavailableError(''));
        taker.process.run('timers', () => void this.attach(attempt, taker, transfer).catch(stray));
      });
    }
  }

  /** For how long the server keeps all leases of a hold that is detached. */
  private leaseLeft({ names, step: { extend, maxHold, ttl } }: Attempt): number {
    if (maxHold < Infinity) return 0;
    const held = names.map((name) => this.servers.query(name).held);
    if (held.some(({ length }) => length === 0)) return 0;
    // A shorter extension may be on its way. An attach whose reply is lost has given the hold the lease of its taker.
    return Math.min(ttl, extend?.ttl ?? Infinity, ...held.flat().map(({ remaining = 0 }) => remaining));
  }

  private async attach(attempt: Attempt, { process, service }: Instance, transfer: string): Promise<void> {
    const { ttl, outageTimeout, renew, maxHold } = attempt.step;
    const lock = await service.attach(transfer, { ttl, outageTimeout, renew, maxHold });
    if (attempt.state !== 'passing') this.referee.fail(`${attempt.caller} was attached twice`);
    this.referee.goesOn(attempt, process, lock);
    this.endAfter(attempt.step.work, attempt);
  }

  private endAfter(work: number, attempt: Attempt): void {
    const { process, lock } = attempt;
    if (lock) process.schedule(() => this.end(attempt, lock), work);
  }

  /** A process that died on the way tells nobody what became of the hold. */
  private giveUpOnTheDead(): void {
    for (const { attempt, takers } of this.ways) {
      const died = takers.some((taker) => !taker?.process.alive);
      if (died && attempt.state === 'passing')
        this.referee.strayed(attempt, new LockUnavailableError('It died.'));
    }
  }

  private end(attempt: Attempt, lock: Lock): void {
    if (attempt.state !== 'holding' || attempt.lock !== lock) return;
    this.referee.released(attempt);
    void lock.release();
  }

  private async comeToRest(): Promise<void> {
    const before = (): void => this.referee.beforeEvent();
    for (let events = 0; await this.time.step(before); events++) {
      this.referee.afterEvent();
      this.referee.assertNothingFailed();
      if (events > MAX_EVENTS) this.referee.fail('It never comes to rest');
    }
  }

  private assertNothingLeft(): void {
    assertNothingKept(this.instances, (what) => this.referee.fail(what));
    const { calm } = expectationsOf(this.schedule);
    if (!calm || this.instances.some(({ process }) => !process.alive)) return;
    for (const name of this.names) {
      const { held, pending } = this.servers.query(name);
      if (held.length > 0) this.referee.fail(`The server still has the lock ${name}`);
      if (pending.length > 0) this.referee.fail(`The server still has somebody waiting for ${name}`);
    }
  }

  /** Whatever happened before: once the leases have run out, everybody can have every lock. */
  private async assertEveryNameUsable(): Promise<void> {
    this.time.skip(AFTERWARDS);
    for (const instance of this.instances) {
      if (!instance.process.alive) continue;
      for (const name of this.names) {
        const attempt = this.acquire(instance, { ...PROBE, name });
        await this.comeToRest();
        if (!attempt.lock) this.referee.fail(`${attempt.caller} cannot have ${name} when all is over`);
      }
    }
  }

  private get names(): Set<string> {
    return new Set(
      this.schedule.steps.flatMap((step) =>
        step.kind === 'acquire' ? [step.name, ...(step.also ?? [])] : [],
      ),
    );
  }
}
