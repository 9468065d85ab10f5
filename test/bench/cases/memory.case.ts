import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import type { Worker } from '../../support/worker.js';
import type { LoadCalls } from '../load/load.process.js';
import { LoadPool } from '../load/load-pool.js';

/** Below the default of maxWaiters. */
const MANY = 9_000;
/** Long enough that no renewal falls into what is measured. */
const LEASE = 300_000;
/** Milliseconds after which whoever waits stands in line. */
const SETTLED = 500;
/** Bytes. */
const WAITER_GOAL = 700;

/** What is measured, beside what a caller itself takes of the heap. */
interface Weighing {
  readonly what: string;
  readonly load: (process: Worker<LoadCalls>) => Promise<unknown>;
  /** The same callers of a lock that weighs nothing; left out where none stays. */
  readonly callers?: (process: Worker<LoadCalls>) => Promise<unknown>;
}

const names = (prefix: string): string[] => Array.from({ length: MANY }, (_, i) => `bench:${prefix}:${i}`);
const holders = (process: Worker<LoadCalls>): Promise<unknown> => process.call('takeNothing', MANY);

const WEIGHINGS: readonly Weighing[] = [
  {
    what: 'waiter',
    load: (process) => process.call('startWaiting', 'bench:waited', MANY).then(() => sleep(SETTLED)),
    callers: (process) => process.call('startIdling', MANY),
  },
  { what: 'held lock', load: (process) => process.call('take', names('held')), callers: holders },
  {
    what: 'shared hold of one name',
    load: (process) => process.call('take', Array(MANY).fill('bench:shared'), { limit: Infinity }),
    callers: holders,
  },
  { what: 'name used once', load: (process) => process.call('useOnce', 'bench:once', MANY) },
];

/** Heap that each of many takes, after a collection. */
export const memoryCase: BenchCase = {
  name: 'memory',
  isQuick: false,
  async run(bench) {
    const figures: Record<string, number> = {};
    for (const weighing of bench.only.includes('ours') ? WEIGHINGS : []) {
      bench.say(`memory: ${weighing.what}`);
      figures[weighing.what] = await weigh(bench, weighing);
    }
    return {
      name: 'memory',
      title: `Memory of ours, ${MANY.toLocaleString('en')} of each in one process`,
      notes: [
        'Heap in use after a collection, without that of the callers themselves; waiters: case waiters.',
      ],
      head: ['', 'kB each'],
      rows: Object.entries(figures).map(([what, bytes]) => [what, (bytes / 1_000).toFixed(3)]),
      goals: Object.entries(figures)
        .filter(([what]) => what === 'waiter')
        .map(([, bytes]) => ({
          text: 'memory of a waiter at most 0.7 kB',
          measured: `${(bytes / 1_000).toFixed(2)} kB`,
          met: bytes <= WAITER_GOAL,
        })),
      figures,
    };
  },
};

/** Bytes of each. */
async function weigh(bench: Bench, { load, callers }: Weighing): Promise<number> {
  const pool = await LoadPool.start('ours', 2, addressOf(bench.server), LEASE);
  try {
    const [process, other] = pool.processes;
    if (!process || !other) throw new Error('Two processes are needed');
    // The name that is waited for is another instance's.
    await other.call('take', ['bench:waited']);
    await process.call('startWaiting', 'bench:waited', 1);
    // The first of everything also compiles, connects and fills pools.
    await process.call('useOnce', 'bench:first', 1_000);
    const grownBy = async (what: (process: Worker<LoadCalls>) => Promise<unknown>): Promise<number> => {
      const before = await process.call('heap');
      await what(process);
      return (await process.call('heap')) - before;
    };
    const ofCallers = callers ? await grownBy(callers) : 0;
    return ((await grownBy(load)) - ofCallers) / MANY;
  } finally {
    await pool.close();
    const client = bench.server.client();
    await client.flushall();
    client.disconnect();
  }
}
