import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestant.js';
import { now } from './shared-clock.js';

const RESULT = 'result';

/** Callers that want one result at the same moment. */
export interface Burst {
  readonly name: string;
  readonly callers: number;
  /** Milliseconds of the work. */
  readonly work: number;
  /** Moment of the shared clock. */
  readonly startAt: number;
}

/** Two moments of the shared clock. */
interface Run {
  readonly from: number;
  readonly to: number;
}

/** What the callers of one process saw. */
export interface BurstResult {
  /** The moment at which its callers began. */
  readonly beganAt: number;
  /** Each run of the work in this process. */
  readonly runs: readonly Run[];
  /** The moments at which the callers had the result. */
  readonly resultsAt: Float64Array;
  readonly failures: readonly string[];
}

export async function onceBurst(contestant: Contestant, burst: Burst): Promise<BurstResult> {
  const { name, callers, work, startAt } = burst;
  const runs: Run[] = [];
  const resultsAt: number[] = [];
  const failures: string[] = [];
  const run = async (): Promise<string> => {
    const from = now();
    await sleep(work);
    runs.push({ from, to: now() });
    return RESULT;
  };
  await sleep(startAt - now());
  const beganAt = now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      try {
        const result = await callOnce(contestant, name, run);
        if (result === RESULT) resultsAt.push(now());
        else failures.push(`Another result: ${result}`);
      } catch (error) {
        failures.push(String(error));
      }
    }),
  );
  return { beganAt, runs, resultsAt: Float64Array.from(resultsAt), failures };
}

export async function keptReads(contestant: Contestant, name: string, times: number): Promise<Float64Array> {
  const took = new Float64Array(times);
  for (let i = 0; i < times; i++) {
    const begin = now();
    await callOnce(contestant, name, async () => RESULT);
    took[i] = now() - begin;
  }
  return took;
}

async function callOnce(contestant: Contestant, name: string, work: () => Promise<string>): Promise<string> {
  if (!contestant.once) throw new Error('It cannot run work once.');
  return contestant.once(name, work);
}
