import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import { LoadPool } from '../load/load-pool.js';
import { describeError } from '../report/format.js';
import { countRequests } from './contest.js';
import { representativesOf } from './contest-report.js';

const PROCESSES = 4;
const WAITERS = 1_000;
/** Milliseconds for ours, which asks the holder's instance every 15 s, and for the others, which send steadily. */
const OUR_TIME = 15_000;
const THEIR_TIME = 2_000;
/** Long enough that the holder's renewal falls outside of what is counted. */
const LEASE = 60_000;

/** 1,000 callers wait for a name that somebody keeps. */
export const manyWaitersCase: BenchCase = {
  name: 'waiters',
  isQuick: false,
  async run(bench) {
    const rows: string[][] = [];
    const figures: Record<string, unknown> = {};
    let ours: number | undefined;
    for (const id of representativesOf(bench)) {
      bench.say(`waiters: ${id}`);
      const seen = await watchWaiters(bench, id).catch((error: unknown) => error as Error);
      figures[id] = seen instanceof Error ? { error: seen.message } : { requests: seen };
      if (id === 'ours' && !(seen instanceof Error)) ours = seen;
      rows.push(seen instanceof Error ? [id, '', describeError(seen)] : [id, seen.toFixed(1), '']);
    }
    return {
      name: 'waiters',
      title: `${WAITERS.toLocaleString('en')} waiters in ${PROCESSES} processes, for ${OUR_TIME / 1_000} s`,
      notes: [`Others than ours for ${THEIR_TIME / 1_000} s.`],
      head: ['', 'requests a second', 'errors'],
      rows,
      goals:
        ours === undefined
          ? []
          : [
              {
                text: 'at most 5 requests a second in all',
                measured: ours.toFixed(1),
                met: ours <= 5,
                isCount: true,
              },
            ],
      figures,
    };
  },
};

async function watchWaiters(bench: Bench, id: string): Promise<number> {
  const definition = bench.contestants.get(id);
  if (definition instanceof Error) throw definition;
  const pool = await LoadPool.start(id, PROCESSES + 1, addressOf(bench.server), LEASE);
  try {
    const [holder, ...waiting] = pool.processes;
    if (!holder) throw new Error('A process that holds is needed');
    await holder.call('take', ['bench:waiters']);
    await Promise.all(
      waiting.map((worker) => worker.call('startWaiting', 'bench:waiters', WAITERS / PROCESSES)),
    );
    // Everybody stands in line and has asked again by then, for the first time with a trial of the connection.
    await sleep(2_000);
    await bench.server.resetCommandCounts();
    const time = id === 'ours' ? OUR_TIME : THEIR_TIME;
    await sleep(time);
    const requests = await countRequests(bench, id);
    return requests / (time / 1_000);
  } finally {
    await pool.close();
  }
}
