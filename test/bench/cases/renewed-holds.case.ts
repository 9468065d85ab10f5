import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import { LoadPool } from '../load/load-pool.js';
import { describeError } from '../report/format.js';
import { countRequests } from './contest.js';

const HOLDS = 10_000;
const LEASE = 6_000;
/** Those that renew a plain hold by themselves. */
const RENEWING = ['ours', 'redis-semaphore', 'node-redisson'];

/** One process keeps 10,000 names. */
export const renewedHoldsCase: BenchCase = {
  name: 'renewed',
  isQuick: false,
  async run(bench) {
    const rows: string[][] = [];
    const figures: Record<string, unknown> = {};
    for (const id of bench.only.filter((wanted) => RENEWING.includes(wanted))) {
      bench.say(`renewed: ${id}`);
      const seen = await watchRenewal(bench, id).catch((error: unknown) => error as Error);
      figures[id] = seen instanceof Error ? { error: seen.message } : seen;
      rows.push(
        seen instanceof Error
          ? [id, '', '', '', describeError(seen)]
          : [id, seen.requests.toFixed(0), seen.cpu.toFixed(0), String(seen.kept), ''],
      );
    }
    const ours = figures['ours'] as Renewal | undefined;
    return {
      name: 'renewed',
      title: `${HOLDS.toLocaleString('en')} renewed holds in one process, leases of ${LEASE / 1_000} s, over one lease`,
      notes: [
        'redis-semaphore renews once in 0.8 of a lease, the others three times in a lease; kept: keys still there at the end.',
      ],
      head: ['', 'requests a lease', 'CPU of the process, ms a lease', 'kept', 'errors'],
      rows,
      goals:
        ours?.requests === undefined
          ? []
          : [
              {
                text: 'at most 20 requests per third of a lease',
                measured: (ours.requests / 3).toFixed(1),
                met: ours.requests / 3 <= 20,
                isCount: true,
              },
              {
                text: 'no hold is lost',
                measured: `${HOLDS - ours.kept} lost`,
                met: ours.kept === HOLDS,
                isCount: true,
              },
            ],
      figures,
    };
  },
};

interface Renewal {
  readonly requests: number;
  readonly cpu: number;
  readonly kept: number;
}

async function watchRenewal(bench: Bench, id: string): Promise<Renewal> {
  const definition = bench.contestants.get(id);
  if (definition instanceof Error) throw definition;
  const pool = await LoadPool.start(id, 1, addressOf(bench.server), LEASE);
  const client = bench.server.client();
  try {
    await client.flushall();
    const [holder] = pool.processes;
    if (!holder) throw new Error('A process that holds is needed');
    await holder.call(
      'take',
      Array.from({ length: HOLDS }, (_, index) => `bench:renewed:${index}`),
    );
    // Each has been renewed once by then, so that what is counted is the steady state.
    await sleep(LEASE);
    await bench.server.resetCommandCounts();
    const before = await holder.call('cpu');
    await sleep(LEASE);
    const cpu = (await holder.call('cpu')) - before;
    const requests = await countRequests(bench, id);
    const keys = await client.keys('*bench:renewed:*');
    return { requests, cpu, kept: keys.length };
  } finally {
    client.disconnect();
    await pool.close();
  }
}
