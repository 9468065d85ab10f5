import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../../../lib/errors/lock.error.js';
import type { Lock, LockOptions, LockService } from '../../../lib/index.js';
import type { Wanted } from '../../support/may-hold-together.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { serveCalls } from '../../support/serve-calls.js';
import { FencedResourceClient } from './fenced-resource.client.js';
import { HoldObserver } from './hold-observer.js';
import type { ContenderReport, HoldRecord, RefusedAcquire } from './hold-record.js';
import { LockServices } from './lock-services.js';
import { type Outcome, PassedHolds } from './passed-holds.js';
import { SeededRandom } from './seeded-random.js';
import { now } from './shared-clock.js';
import type { FlatOptions } from '../../support/flat-options.js';

/** What the callers of one process do. */
interface Rush {
  readonly callers: number;
  readonly names: readonly [string, ...string[]];
  readonly seed: number;
  /** Longest work, in milliseconds. */
  readonly maxWork: number;
  /** Share of the calls that give up early, by a signal or after one attempt. */
  readonly impatience: number;
  /** What the calls ask for, one or the other by chance; the lock alone where this is left out. */
  readonly terms?: readonly [Terms, ...Terms[]];
}

/** How a call wants the lock: alone, or beside others, of which there may be a limited number. */
export type Terms = Pick<LockOptions, 'mode' | 'limit' | 'permits'>;

interface CallOptions extends Terms {
  readonly wait?: number;
  readonly signal?: AbortSignal;
}

/** How the work of {@link calls.hold} ended. */
export interface Finished {
  readonly record: HoldRecord;
  /** Code of the error that the caller got, or undefined where it got its result. */
  readonly code: string | undefined;
}

class WorkError extends Error {
  override readonly name = 'WorkError';
}

/** One opening of the service, with everything seen since. */
class Contender {
  readonly problems: string[] = [];
  private readonly services = new LockServices();
  private readonly service: LockService;
  private readonly resource: FencedResourceClient;
  private readonly observer = new HoldObserver();
  private readonly refused: RefusedAcquire[] = [];
  private readonly loops: Promise<void>[] = [];
  private readonly kept = new Map<string, { lock: Lock; finish(): void; finished: Promise<Finished> }>();
  private readonly passed: PassedHolds;
  private readonly end = new AbortController();
  private running = true;
  private lastHold = 0;

  constructor(
    private readonly process: string,
    options: FlatOptions,
    resourcePort: number,
  ) {
    this.service = this.services.open(options);
    this.resource = new FencedResourceClient(resourcePort);
    this.passed = new PassedHolds(this.service, this.observer, this.resource);
  }

  get holds(): number {
    return this.observer.records.length;
  }

  rush(rush: Rush): void {
    for (let caller = 0; caller < rush.callers; caller++) {
      const random = new SeededRandom(rush.seed * 1_000 + caller);
      this.loops.push(this.keepCalling(caller, rush, random));
    }
  }

  async hold(name: string, terms: Terms = {}): Promise<number> {
    const { promise: end, resolve: finish } = gate();
    return new Promise((resolve, reject) => {
      const finished = this.call(name, 'holder', terms, async (lock) => {
        this.kept.set(name, { lock, finish, finished });
        resolve(lock.fencingToken);
        await end;
      });
      finished.catch(reject);
    });
  }

  keptLock(name: string): { lock: Lock; finish(): void; finished: Promise<Finished> } {
    const kept = this.kept.get(name);
    if (!kept) throw new Error(`${this.process} holds no ${name}`);
    return kept;
  }

  writeWithKept(name: string): Promise<boolean> {
    return this.resource.write(name, this.keptLock(name).lock.fencingToken, 'holder');
  }

  /** The holds that other processes may get. */
  get passedHolds(): PassedHolds {
    return this.passed;
  }

  /** Campaigns for the lead of a name until {@link stop}; terms end after a while by themselves, too. */
  lead(name: string, seed: number, pause: number): void {
    const random = new SeededRandom(seed);
    const work = async (lock: Lock): Promise<void> => {
      const observation = this.observer.begin(`${this.process}/leader/${++this.lastHold}`, lock, now());
      const until = now() + random.between(0, 300);
      try {
        while (!lock.signal.aborted && now() < until) {
          await this.writeFenced(lock, observation.record);
          await sleep(5);
        }
        if (random.chance(0.2)) throw new WorkError('the work failed');
      } finally {
        observation.end();
      }
    };
    const onError = (error: unknown): void => {
      if (!(error instanceof WorkError)) this.problems.push(`the leader's work failed with ${String(error)}`);
    };
    this.loops.push(this.service.lead(name, work, { signal: this.end.signal, pause, onError }));
  }

  async stop(): Promise<ContenderReport> {
    this.running = false;
    this.end.abort();
    await Promise.all(this.loops);
    await this.passed.releaseAll();
    await this.services[Symbol.asyncDispose]();
    this.resource.close();
    return { holds: this.observer.records, refused: this.refused, problems: this.problems };
  }

  private async keepCalling(caller: number, rush: Rush, random: SeededRandom): Promise<void> {
    while (this.running) {
      const name = random.pick(rush.names);
      const terms = rush.terms ? random.pick(rush.terms) : {};
      const given = random.chance(rush.impatience)
        ? random.pick([{ wait: 0 }, { signal: AbortSignal.timeout(Math.round(random.between(0, 60))) }])
        : {};
      await this.callAtRandom(name, `${caller}`, { ...terms, ...given }, rush.maxWork, random);
      await sleep(random.between(0, 10));
    }
  }

  private async callAtRandom(
    name: string,
    caller: string,
    options: CallOptions,
    maxWork: number,
    random: SeededRandom,
  ): Promise<void> {
    const length = random.chance(0.1) ? maxWork : random.between(0, maxWork / 10);
    const fails = random.chance(0.1);
    const askedAt = now();
    const refuse = (code: string, message: string): void =>
      void this.refused.push({ name, askedAt, refusedAt: now(), code, message });
    try {
      await this.call(name, caller, options, async (lock, record) => {
        await this.writeFenced(lock, record);
        await sleep(length);
        await this.writeFenced(lock, record);
        if (fails) throw new WorkError('the work failed');
      });
    } catch (error) {
      if (options.signal?.aborted && error === options.signal.reason) return;
      if (options.wait === 0 && isLockError(error) && error.code === 'LOCK_TIMEOUT') return;
      refuse(isLockError(error) ? error.code : 'UNKNOWN', String(error));
    }
  }

  /** Not of shared holds: their tokens cannot fence each other off. */
  private async writeFenced(lock: Lock, record: HoldRecord): Promise<void> {
    if (record.limit !== undefined) return;
    const accepted = await this.resource.write(record.name, record.token, record.id);
    if (!accepted && lock.held) record.refusedAt = now();
  }

  /** Runs work under the lock, and checks that the caller gets what is due: the work's own error, its result, or the loss. */
  private async call(
    name: string,
    caller: string,
    options: CallOptions,
    work: (lock: Lock, record: HoldRecord) => Promise<void>,
  ): Promise<Finished> {
    const id = `${this.process}/${caller}/${++this.lastHold}`;
    const askedAt = now();
    const result = {};
    let seen: { record: HoldRecord; failure: unknown; certainUntil: number; aborted: boolean } | undefined;
    try {
      const returned = await this.service.using(name, options, async (lock) => {
        const observation = this.observer.begin(id, lock, askedAt, wantedBy(options));
        const { record } = observation;
        let failure: unknown;
        try {
          await work(lock, record);
          return result;
        } catch (error) {
          failure = error;
          throw error;
        } finally {
          observation.end();
          seen = { record, failure, certainUntil: now() + lock.remaining, aborted: lock.signal.aborted };
        }
      });
      if (!seen) throw new Error(`${id} got a result without its work`);
      if (returned !== result) this.problems.push(`${id} got another result than its work returned`);
      if (seen.aborted) this.problems.push(`${id} was lost, and its caller was not told`);
      if (seen.failure) this.problems.push(`${id} failed, and its caller was not told`);
      seen.record.outcome = 'result';
      return { record: seen.record, code: undefined };
    } catch (error) {
      if (!seen) throw error;
      const { record, failure, certainUntil } = seen;
      record.outcome = failure ? 'work failed' : 'lost';
      if (failure) {
        if (error !== failure)
          this.problems.push(`${id}: the error of the work was masked by ${String(error)}`);
        return { record, code: undefined };
      }
      const code = isLockError(error) ? error.code : String(error);
      if (code !== 'LOCK_LOST')
        this.problems.push(`${id}: the result of the work was thrown away for ${code}`);
      else if (now() < certainUntil) this.problems.push(`${id} was called lost while it was certain`);
      return { record, code };
    }
  }
}

function wantedBy({ mode, limit = Infinity, permits }: Terms): Wanted {
  return mode === 'shared' ? { limit, permits } : {};
}

function gate(): { promise: Promise<void>; resolve: () => void } {
  let open: (() => void) | undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, resolve: () => open?.() };
}

let contender: Contender | undefined;
const strayErrors: string[] = [];

process.on('unhandledRejection', (reason) => strayErrors.push(`unhandled rejection: ${describe(reason)}`));
process.on('uncaughtException', (error) => strayErrors.push(`uncaught exception: ${describe(error)}`));
process.on('warning', (warning) => strayErrors.push(`warning: ${describe(warning)}`));

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function current(): Contender {
  if (!contender) throw new Error('Call open first');
  return contender;
}

const calls = {
  now,
  open(process: string, options: FlatOptions, resourcePort: number): void {
    contender = new Contender(process, options, resourcePort);
  },
  /** Starts callers that acquire, work and release until {@link stop}. */
  rush: (rush: Rush): void => current().rush(rush),
  /** Holds a name until {@link finish}; returns its fencing token. */
  hold: (name: string, terms?: Terms): Promise<number> => current().hold(name, terms),
  /** What the holder of {@link hold} sees. */
  look(name: string): { held: boolean; remaining: number; lostBecause: string | undefined } {
    const { lock } = current().keptLock(name);
    const { aborted, reason } = lock.signal;
    return { held: lock.held, remaining: lock.remaining, lostBecause: aborted ? String(reason) : undefined };
  },
  /** Asks for a longer or shorter lease; resolves to the code of the error, if any. */
  extend: (name: string, ttl?: number): Promise<string | undefined> =>
    current()
      .keptLock(name)
      .lock.extend(ttl)
      .then(
        () => undefined,
        (error: unknown) => (isLockError(error) ? error.code : String(error)),
      ),
  /** Writes to the resource with the token of {@link hold}; resolves to whether it was let in. */
  write: (name: string): Promise<boolean> => current().writeWithKept(name),
  /** Ends the work of {@link hold}. */
  finish(name: string): Promise<Finished> {
    const kept = current().keptLock(name);
    kept.finish();
    return kept.finished;
  },
  /** Acquires a name, to hand it on. */
  acquirePassed: (id: string, name: string): Promise<Outcome<void>> =>
    current().passedHolds.acquire(id, name),
  detachPassed: (id: string): Promise<Outcome<string>> => current().passedHolds.detach(id),
  attachPassed: (id: string, name: string, transfer: string): Promise<Outcome<void>> =>
    current().passedHolds.attach(id, name, transfer),
  releasePassed: (id: string): Promise<void> => current().passedHolds.release(id),
  lead: (name: string, seed: number, pause: number): void => current().lead(name, seed, pause),
  /** Holds so far. */
  progress: (): number => current().holds,
  /** Bytes that this process keeps. */
  heap(): number {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  },
  /** Keeps the event loop busy. */
  block(milliseconds: number): void {
    const end = now() + milliseconds;
    while (now() < end);
  },
  async stop(): Promise<ContenderReport> {
    const report = await current().stop();
    return { ...report, problems: [...report.problems, ...strayErrors.splice(0)] };
  },
};

export type ContenderCalls = typeof calls;

serveCalls(calls);
