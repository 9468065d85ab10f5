import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { serveCalls } from '../../support/serve-calls.js';
import type { Contestant, RedisAddress, Together } from '../contestant.js';
import { loadContestant } from '../contestants.js';
import type { LoadPlan, LoadResult } from './load-plan.js';
import { keptReads, onceBurst, type Burst, type BurstResult } from './once.js';
import { runLoad } from './run-load.js';
import { now } from './shared-clock.js';

// The hook that compiles this file turns them on; they would make the errors of some peers dear.
process.setSourceMapsEnabled(false);
// Some peers leave promises of their own unhandled; a load process must outlive that to report it.
const unhandled = new Set<string>();
process.on('unhandledRejection', (reason) => unhandled.add(`unhandled: ${String(reason)}`));

let contestant: Contestant | undefined;

/** Callers as the adapters' own, of a lock that weighs nothing: what they themselves take of the heap. */
class WeightlessLock implements Contestant {
  // Whoever waits is kept, as a queue would, or the collection would take them.
  private readonly waiting: ((lock: AsyncDisposable) => void)[] = [];

  constructor(private readonly isFree: boolean) {}

  async hold(_name: string, work: () => Promise<void>): Promise<void> {
    const lock = await new Promise<AsyncDisposable>((resolve) => {
      if (this.isFree) resolve(FREE);
      else this.waiting.push(resolve);
    });
    try {
      await work();
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  close(): void {}
}

const FREE: AsyncDisposable = { [Symbol.asyncDispose]: () => Promise.resolve() };
const taken = new WeightlessLock(false);
const free = new WeightlessLock(true);

const calls = {
  async open(id: string, redis: RedisAddress, lease?: number): Promise<void> {
    const definition = await loadContestant(id);
    contestant = await definition.open(redis, lease);
    // Connections, scripts and first compilation are no part of what is measured.
    await contestant.hold(`bench:open:${process.pid}`, async () => {});
  },

  async load(plan: LoadPlan): Promise<LoadResult> {
    const result = await runLoad(opened(), plan);
    const failures = { ...result.failures };
    for (const message of unhandled) failures[message] = (failures[message] ?? 0) + 1;
    unhandled.clear();
    return { ...result, failures };
  },

  /** Callers of this process want one result, all at the same moment. */
  async burst(plan: Burst): Promise<BurstResult> {
    return onceBurst(opened(), plan);
  },

  /** Reads a kept result so often, one after the other. Gives the milliseconds of each. */
  async readKept(name: string, times: number): Promise<Float64Array> {
    return keptReads(opened(), name, times);
  },

  /** Takes all the names and keeps them until the process ends. Gives the moment at which each was had. */
  async take(names: readonly string[], together?: Together): Promise<number[]> {
    return Promise.all(names.map((name) => takeForGood(opened(), name, together)));
  },

  /** The same of a lock that weighs nothing. */
  async takeNothing(holds: number): Promise<void> {
    await Promise.all(Array.from({ length: holds }, () => takeForGood(free, '')));
  },

  /** Takes names and gives them back, one after the other. */
  async useOnce(prefix: string, names: number): Promise<void> {
    for (let i = 0; i < names; i++) await opened().hold(`${prefix}:${i}`, async () => {});
  },

  /** Lets so many callers wait for a name that somebody has taken; does not wait for them. */
  startWaiting(name: string, callers: number): void {
    for (let caller = 0; caller < callers; caller++) void takeForGood(opened(), name).catch(() => {});
  },

  /** The same with a lock that weighs nothing. */
  startIdling(callers: number): void {
    for (let caller = 0; caller < callers; caller++) void takeForGood(taken, '').catch(() => {});
  },

  /** Milliseconds of CPU that this process has used. */
  cpu(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },

  /** Bytes of heap in use after a collection. */
  heap(): number {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    return process.memoryUsage().heapUsed;
  },
};

export type LoadCalls = typeof calls;

serveCalls(calls);

function opened(): Contestant {
  if (!contestant) throw new Error('Call open first');
  return contestant;
}

function takeForGood(lock: Contestant, name: string, together?: Together): Promise<number> {
  return new Promise((resolve, reject) => {
    lock
      .hold(
        name,
        () => {
          resolve(now());
          return new Promise(() => {});
        },
        together,
      )
      .catch(reject);
  });
}
