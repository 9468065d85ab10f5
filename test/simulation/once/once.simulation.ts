import { EventLog } from '../event-log.js';
import { assertNothingKept, type Instance, startInstances, watchingRejections } from '../instance.js';
import { VirtualTime } from '../virtual-time.js';
import { GivenUp, type OnceCall, OnceReferee, WorkFailed } from './once-referee.js';
import {
  type HoldStep,
  onceExpectations,
  type OnceSchedule,
  type OnceStep,
  type TimedOnceStep,
} from './once-schedule.js';
import { OnceServer } from './once-server.js';

const MAX_EVENTS = 20_000;
/** Longer than any lease, and than any result is kept. */
const AFTERWARDS = 40_000;

const PROBE: OnceStep = {
  kind: 'once',
  instance: 0,
  name: 'x',
  ttl: 2_000,
  keep: 1_000,
  wait: 5_000,
  outageTimeout: 5_000,
  renew: true,
  maxHold: Infinity,
  work: 0,
  fails: false,
  abortAfter: undefined,
};

/** Callers of `once` and `forget` on several instances, with a network that a schedule disturbs. */
export class OnceSimulation {
  private readonly time = new VirtualTime();
  private readonly log = new EventLog(this.time);
  private readonly server: OnceServer;
  private readonly referee: OnceReferee;
  private readonly instances: readonly Instance[];
  private callers = 0;

  constructor(private readonly schedule: OnceSchedule) {
    const { log, time } = this;
    this.server = new OnceServer(time, schedule);
    const { longestTrip } = this.server;
    this.referee = new OnceReferee({ time, log, longestTrip, expectations: onceExpectations(schedule) });
    this.server.referee = this.referee;
    this.instances = startInstances(time, this.server, schedule);
  }

  /** Runs the schedule until nothing is left to do. Rejects if a rule was broken. */
  async run(): Promise<void> {
    const rejected = (reason: unknown): void =>
      void this.referee.note(`A rejection was not handled: ${String(reason)}`);
    await watchingRejections(rejected, async () => {
      let moment = 0;
      for (const step of this.schedule.steps) {
        moment += step.after;
        this.time.at(moment, () => this.perform(step));
      }
      await this.comeToRest();
      await this.assertEveryNameRuns();
    });
  }

  private perform(step: TimedOnceStep): void {
    const { log, server } = this;
    switch (step.kind) {
      case 'flush':
        return server.clear();
      case 'forceRelease':
        log.note('operator', `releases ${step.name}`);
        return server.forceRelease(step.name);
      case 'refuse':
      case 'pause':
        return log.note('server', `has a ${step.kind} of ${step.lasts} ms`);
      default:
    }
    const instance = this.instances[step.instance % this.instances.length];
    if (!instance?.process.alive) return;
    const { name, process, link, service } = instance;
    switch (step.kind) {
      case 'once':
        return process.run('timers', () => void this.callOnce(instance, step));
      case 'hold':
        return process.run('timers', () => this.hold(instance, step));
      case 'forget':
        log.note(name, `forgets ${step.name}`);
        // Without a reply, the result may still be kept.
        return process.run('timers', () => void service.forget(step.name).catch(() => undefined));
      case 'crash':
        log.note(name, 'crashes');
        process.crash();
        this.time.after(step.noticedAfter, () => link.drop());
        return;
      case 'freeze':
        log.note(name, `is stopped for ${step.lasts} ms`);
        process.stop();
        this.time.after(step.lasts, () => process.goOn(step.order));
        return;
      case 'reset':
        log.note(name, `loses its connection for ${step.lasts} ms`);
        return link.reset(step);
      case 'deafen':
        log.note(name, `loses its inbox for ${step.lasts} ms`);
        return link.deafen(step);
      default:
        return log.note(name, `has a ${step.kind} of ${step.what} for ${step.lasts} ms`);
    }
  }

  private callOnce({ name, process, service }: Instance, step: OnceStep): OnceCall {
    const { ttl, keep, wait, outageTimeout, renew, maxHold, abortAfter } = step;
    const call = this.referee.begins(`${name[0]}${++this.callers}`, step, process);
    const controller = new AbortController();
    if (abortAfter !== undefined) {
      process.schedule(() => {
        this.referee.gaveUp(call);
        controller.abort(new GivenUp());
      }, abortAfter);
    }
    const options = { ttl, keep, wait, outageTimeout, renew, maxHold, signal: controller.signal };
    service
      .once(step.name, options, (lock): Promise<string> => {
        this.referee.works(call, lock);
        return new Promise((resolve, reject) => {
          const end = (): void => (step.fails ? reject(new WorkFailed()) : resolve(`run of ${call.caller}`));
          if (step.work === 0) end();
          else process.schedule(end, step.work);
        });
      })
      .then(
        (value) => this.referee.resolved(call, value),
        (error: unknown) => this.referee.rejected(call, error),
      )
      // The referee remembers its verdict.
      .catch(() => undefined);
    return call;
  }

  private hold({ name, process, service }: Instance, step: HoldStep): void {
    const call = this.referee.begins(`${name[0]}${++this.callers}`, step, process);
    service
      .acquire(step.name, { ttl: step.ttl, wait: Infinity, outageTimeout: 60_000 })
      .then(
        (lock) => {
          this.referee.works(call, lock);
          process.schedule(() => {
            this.referee.released(call);
            void lock.release();
          }, step.work);
        },
        (error: unknown) => this.referee.rejected(call, error),
      )
      .catch(() => undefined);
  }

  private async comeToRest(): Promise<void> {
    const before = (): void => this.referee.beforeEvent();
    for (let events = 0; await this.time.step(before); events++) {
      this.referee.afterEvent();
      if (events > MAX_EVENTS) this.referee.fail('It never comes to rest');
    }
    this.referee.atRest();
    assertNothingKept(this.instances, (what) => this.referee.fail(what));
  }

  /** When all leases and results have expired, each live instance can run each name again. */
  private async assertEveryNameRuns(): Promise<void> {
    const names = new Set(this.schedule.steps.flatMap((step) => ('name' in step ? [step.name] : [])));
    for (const instance of this.instances) {
      if (!instance.process.alive) continue;
      this.time.skip(AFTERWARDS);
      for (const name of names) {
        const probe = this.callOnce(instance, { ...PROBE, name });
        await this.comeToRest();
        if (!probe.lock) this.referee.fail(`${instance.name} cannot run ${name} when all is over`);
      }
    }
  }
}
