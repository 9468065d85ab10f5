import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../../../lib/errors/lock.error.js';
import type { LockService } from '../../../lib/index.js';
import { serveCalls } from '../../support/serve-calls.js';
import { LockServices } from './lock-services.js';
import { OnceJournal } from './once.journal.js';
import { SeededRandom } from './seeded-random.js';
import { now } from './shared-clock.js';

/** What the loops of one process call. */
interface Walk {
  /** The process, also when a later one continues its loops. */
  readonly place: string;
  /** This process alone. */
  readonly process: string;
  readonly url: string;
  readonly file: string;
  readonly loops: number;
  /** Number of names that run once. */
  readonly names: number;
  /** Milliseconds for which results of repeated names are kept. */
  readonly keep: number;
  readonly seed: number;
}

class WorkFailed extends Error {}

const services = new LockServices();
const problems: string[] = [];
const walking: Promise<void>[] = [];
/** Aborts when this process has a result of every name. */
const answered = new AbortController();

/** Calls `once` until it has a result: all failures that chaos may cause are repeated. */
async function call(
  locks: LockService,
  journal: OnceJournal,
  random: SeededRandom,
  { process, name, keep }: { process: string; name: string; keep: number },
): Promise<number> {
  for (;;) {
    let token: number | undefined;
    try {
      const value = await locks.once(name, { keep }, async (lock) => {
        token = lock.fencingToken;
        journal.begin(name, token, process);
        await sleep(random.chance(0.02) ? random.between(10, 60) : random.between(0, 3));
        if (random.chance(0.02)) throw new WorkFailed();
        journal.finish(name, token, now());
        return token;
      });
      if (token !== undefined) journal.settle(name, token, 'kept', now());
      return value;
    } catch (error) {
      const code = error instanceof WorkFailed ? 'failed' : isLockError(error) ? error.code : String(error);
      if (token !== undefined) journal.settle(name, token, code, now());
      else if (code !== 'LOCK_UNAVAILABLE') problems.push(`a call of ${name} that ran nothing: ${code}`);
    }
  }
}

const calls = {
  walk({ place, process, url, file, loops, names, keep, seed }: Walk): void {
    const journal = new OnceJournal(file);
    const locks = services.open({
      connection: url,
      ttl: 1_000,
      wait: Infinity,
      outageTimeout: 20_000,
      commandTimeout: 300,
    });
    const random = new SeededRandom(seed);
    const once = async (loop: number): Promise<void> => {
      const lane = `${place}/${loop}`;
      for (let number = journal.next(lane); number * loops + loop < names; number++) {
        const [name, called] = [`once:${number * loops + loop}`, now()];
        const value = await call(locks, journal, random, { process, name, keep: 3_600_000 });
        journal.answer({ lane, number, name, value, called });
      }
    };
    const repeatedly = async (lane: string): Promise<void> => {
      for (let number = journal.next(lane); !answered.signal.aborted; number++) {
        const [name, called] = [`tick:${number % 3}`, now()];
        const value = await call(locks, journal, random, { process, name, keep });
        journal.answer({ lane, number, name, value, called });
        await sleep(random.between(5, 60));
      }
    };
    walking.push(...Array.from({ length: loops }, (_, loop) => once(loop)));
    void Promise.all(walking).then(() => answered.abort());
    walking.push(repeatedly(`${place}/tick`));
    for (const each of walking) each.catch((error: unknown) => problems.push(String(error)));
  },
  /** Resolves to everything that must not have happened, when all loops have ended. */
  async end(): Promise<readonly string[]> {
    await Promise.allSettled(walking);
    await services[Symbol.asyncDispose]();
    return problems;
  },
};

export type OnceWorkerCalls = typeof calls;

serveCalls(calls);
