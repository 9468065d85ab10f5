import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { startWorker, type Worker } from '../../support/worker.js';
import type { RedisAddress } from '../contestant.js';
import type { LoadPlan, LoadResult } from './load-plan.js';
import type { LoadCalls } from './load.process.js';
import { now } from './shared-clock.js';

/** Milliseconds within which a contestant must be ready to lock. */
const OPENING_TIME = 20_000;

/** Load processes of one contestant, kept from round to round so that they are compiled and connected. */
export class LoadPool {
  private constructor(readonly processes: readonly Worker<LoadCalls>[]) {}

  /** @throws Error with what the processes printed, when the contestant cannot be opened there */
  static async start(id: string, processes: number, redis: RedisAddress, lease?: number): Promise<LoadPool> {
    const file = join(__dirname, 'load.process.ts');
    const pool = new LoadPool(
      await Promise.all(Array.from({ length: processes }, () => startWorker<LoadCalls>(file))),
    );
    try {
      const opened = Promise.all(pool.processes.map((worker) => worker.call('open', id, redis, lease)));
      const late = sleep(OPENING_TIME, undefined, { ref: false }).then(() => {
        throw new Error(`It did not open within ${OPENING_TIME} ms.`);
      });
      await Promise.race([opened, late]);
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** All processes work on the plan at the same time. */
  async load(
    plan: Pick<LoadPlan, 'names' | 'name' | 'callers' | 'work' | 'record'>,
    { warmUp, duration }: { warmUp: number; duration: number },
  ): Promise<{ plan: LoadPlan; results: LoadResult[] }> {
    const startAt = now() + 50;
    const measureFrom = startAt + warmUp;
    const timed = { ...plan, startAt, measureFrom, stopAt: measureFrom + duration };
    const results = await Promise.all(
      this.processes.map((worker, index) => worker.call('load', { ...timed, ...namesOf(plan, index) })),
    );
    return { plan: timed, results };
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((worker) => worker.kill()));
  }
}

/** Whether names are the same in all processes. */
function namesOf({ names, name }: Pick<LoadPlan, 'names' | 'name'>, process: number): { name: string } {
  return { name: names === 'one' || typeof names === 'object' ? name : `${name}:${process}` };
}
