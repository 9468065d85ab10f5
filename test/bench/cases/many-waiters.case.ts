import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import type { Worker } from '../../support/worker.js';
import type { LoadCalls } from '../load/load.process.js';
import { LoadPool } from '../load/load-pool.js';
import { describeError } from '../report/format.js';
import { countRequests } from './contest.js';
import { representativesOf } from './contest-report.js';

const PROCESSES = 4;
const WAITERS = 1_000;
/** Milliseconds for ours, and for the others, which send steadily and need no long look. */
const OUR_TIME = 10_000;
const THEIR_TIME = 2_000;
/** Long enough that the holder's renewal falls outside of what is counted. */
const LEASE = 60_000;

interface Waiting {
  /** Commands a second, of all processes together. */
  readonly requests: number;
  /** Bytes of heap for each waiter. */
  readonly memory: number;
}

/** 1,000 callers wait for a name that somebody keeps. */
export const manyWaitersCase: BenchCase = {
  name: 'waiters',
  isQuick: false,
  async run(bench) {
    const rows: string[][] = [];
    const figures: Record<string, unknown> = {};
    let ours: Waiting | undefined;
    for (const id of representativesOf(bench)) {
      bench.say(`waiters: ${id}`);
      const seen = await watchWaiters(bench, id).catch((error: unknown) => error as Error);
      figures[id] = seen instanceof Error ? { error: seen.message } : seen;
      if (id === 'ours' && !(seen instanceof Error)) ours = seen;
      rows.push(
        seen instanceof Error
          ? [id, '', '', describeError(seen)]
          : [id, seen.requests.toFixed(1), (seen.memory / 1_000).toFixed(2), ''],
      );
    }
    return {
      name: 'waiters',
      title: `${WAITERS.toLocaleString('en')} waiters in ${PROCESSES} processes, for ${OUR_TIME / 1_000} s`,
      notes: [
        `Others than ours for ${THEIR_TIME / 1_000} s. Memory is heap in use after a collection, without that of the callers themselves.`,
      ],
      head: ['', 'requests a second', 'kB a waiter', 'errors'],
      rows,
      goals: ours
        ? [
            {
              text: 'at most 4 requests a second in all',
              measured: ours.requests.toFixed(1),
              met: ours.requests <= 4,
              isCount: true,
            },
            {
              text: 'memory of a waiter below 2 kB',
              measured: `${(ours.memory / 1_000).toFixed(2)} kB`,
              met: ours.memory < 2_000,
            },
          ]
        : [],
      figures,
    };
  },
};

async function watchWaiters(bench: Bench, id: string): Promise<Waiting> {
  const definition = bench.contestants.get(id);
  if (definition instanceof Error) throw definition;
  const pool = await LoadPool.start(id, PROCESSES + 1, addressOf(bench.server), LEASE);
  try {
    const [holder, ...waiting] = pool.processes;
    if (!holder) throw new Error('A process that holds is needed');
    await holder.call('take', ['bench:waiters']);
    const heap = (): Promise<number> => heapOf(waiting);
    const empty = await heap();
    await Promise.all(waiting.map((worker) => worker.call('startIdling', WAITERS / PROCESSES)));
    const before = await heap();
    await Promise.all(
      waiting.map((worker) => worker.call('startWaiting', 'bench:waiters', WAITERS / PROCESSES)),
    );
    // Everybody stands in line by then.
    await sleep(500);
    await bench.server.resetCommandCounts();
    const time = id === 'ours' ? OUR_TIME : THEIR_TIME;
    await sleep(time);
    const requests = await countRequests(bench, id);
    const grown = (await heap()) - before;
    return { requests: requests / (time / 1_000), memory: (grown - (before - empty)) / WAITERS };
  } finally {
    await pool.close();
  }
}

async function heapOf(workers: readonly Worker<LoadCalls>[]): Promise<number> {
  const heaps = await Promise.all(workers.map((worker) => worker.call('heap')));
  return heaps.reduce((sum, heap) => sum + heap, 0);
}
