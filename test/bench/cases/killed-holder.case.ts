import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Bench, BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import { LoadPool } from '../load/load-pool.js';
import { now } from '../load/shared-clock.js';
import { describeError } from '../report/format.js';
import { percentilesOf } from '../statistics/spread.js';
import { representativesOf } from './contest-report.js';

const NAMES = 30;
const LEASE = 1_000;
/** Milliseconds after which a waiter of a dead holder's lock is no longer waited for. */
const TIMEOUT = 15_000;

/** kill -9 of the holder of 30 names, each of which another process waits for. */
export const killedHolderCase: BenchCase = {
  name: 'killed-holder',
  isQuick: false,
  async run(bench) {
    const rows: string[][] = [];
    const figures: Record<string, unknown> = {};
    for (const id of representativesOf(bench)) {
      bench.say(`killed-holder: ${id}`);
      const late = await latenessAfterKill(bench, id).catch((error: unknown) => error as Error);
      const percentiles = late instanceof Error ? undefined : percentilesOf(Float64Array.from(late));
      figures[id] = late instanceof Error ? { error: late.message } : percentiles;
      rows.push(
        percentiles
          ? [id, percentiles.p50.toFixed(1), percentiles.p99.toFixed(1), '']
          : [id, '', '', describeError(late)],
      );
    }
    const ours = figures['ours'] as { p99?: number } | undefined;
    return {
      name: 'killed-holder',
      title: `kill -9 of the holder of ${NAMES} names, leases of ${LEASE} ms: milliseconds from the end of the lease to the next holder`,
      notes: ['A lock without renewal outlives the kill by less; what counts is the time after its end.'],
      head: ['', 'p50', 'p99', 'errors'],
      rows,
      goals:
        ours?.p99 === undefined
          ? []
          : [
              {
                text: `next holder within the rest of the lease + 50 ms, p99 of ${NAMES}`,
                measured: `${ours.p99.toFixed(1)} ms`,
                met: ours.p99 <= 50,
              },
            ],
      figures,
    };
  },
};

/** Milliseconds from the end of each dead lease until the waiter had the name. */
async function latenessAfterKill(bench: Bench, id: string): Promise<number[]> {
  const definition = bench.contestants.get(id);
  if (definition instanceof Error) throw definition;
  const pool = await LoadPool.start(id, 2, addressOf(bench.server), LEASE);
  const client = bench.server.client();
  try {
    await client.flushall();
    const [holder, waiter] = pool.processes;
    if (!holder || !waiter) throw new Error('Two processes are needed');
    const names = Array.from({ length: NAMES }, (_, index) => `bench:killed:${index}.`);
    await holder.call('take', names);
    const taken = waiter.call('take', names);
    // An early failure is reported below, where it is awaited.
    taken.catch(() => {});
    // Long enough for each waiter to stand in line, short enough for locks that are not renewed.
    await sleep(LEASE / 2);
    await holder.kill();
    const ends = await endsOfLeases(client, names);
    const over = sleep(TIMEOUT, undefined, { ref: false }).then(() => {
      throw new Error(`Names were not had again within ${TIMEOUT / 1_000} s.`);
    });
    const begins = await Promise.race([taken, over]);
    return begins.map((begin, index) => begin - (ends[index] ?? NaN));
  } finally {
    client.disconnect();
    await pool.close();
  }
}

/** When the lease of each name ends, on the shared clock; keys are found by the name that they contain. */
async function endsOfLeases(client: Redis, names: readonly string[]): Promise<number[]> {
  const keys = await client.keys('*');
  const ends = new Map<string, number>();
  await Promise.all(
    keys.map(async (key) => {
      const name = names.find((candidate) => key.includes(candidate));
      if (name === undefined || (await client.type(key)) === 'zset') return;
      const rest = await client.pttl(key);
      if (rest > 0) ends.set(name, Math.max(ends.get(name) ?? 0, now() + rest));
    }),
  );
  return names.map((name) => ends.get(name) ?? now());
}
