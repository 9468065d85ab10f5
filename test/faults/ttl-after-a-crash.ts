/**
 * Measures what the default `ttl` costs and saves: holds lost by an outage of Redis, and time for which a name is out
 * after `kill -9` of its holder. Prints the table of docs/guide/options.md in about a minute, most of it asleep:
 *
 * node --require ./tools/typescript.hook.cjs test/faults/ttl-after-a-crash.ts
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisServer } from '../support/redis-server.js';
import { startWorker } from '../support/worker.js';
import type { ContenderCalls } from '../redis/contender.worker.js';
import { Instance } from '../redis/instance.js';

const TTLS = [10_000, 15_000, 30_000];
const OUTAGES = [5_000, 10_000, 20_000];
/** The default of the option. */
const WAIT = 10_000;
/** Names for each ttl, acquired at equal intervals within one renewal interval. */
const NAMES = 10;
const WORKER = join(__dirname, '../redis/contender.worker.ts');

/** Acquires names at equal intervals, so that their renewals are spread over the interval of renewals. */
async function staggered<T>(ttl: number, acquire: (name: string) => Promise<T>): Promise<T[]> {
  return Promise.all(
    Array.from({ length: NAMES }, async (_, i) => {
      await sleep((i * ttl) / 3 / NAMES);
      return acquire(`ttl:${ttl}:${i}`);
    }),
  );
}

/** The share of holds that an outage ends, for each ttl. */
async function lostIn(outage: number): Promise<string[]> {
  await using server = await RedisServer.start();
  await using instance = await new Instance({ connection: server.url }).warmUp();
  const held = await Promise.all(
    TTLS.map((ttl) => staggered(ttl, (name) => instance.locks.acquire(name, { ttl }))),
  );
  server.freeze();
  await sleep(outage);
  server.thaw();
  // Holds that continue are renewed at once; the others have learned of their end.
  await sleep(1_000);
  return held.map((holds) => `${holds.filter((hold) => !hold.held).length} of ${NAMES}`);
}

/** The time for which names are out after the crash of their holder, and the failed waits of their callers. */
async function afterCrash(ttl: number): Promise<{ readonly out: string; readonly failed: string }> {
  await using server = await RedisServer.start();
  await using instance = await new Instance({ connection: server.url }).warmUp();
  await using worker = await startWorker<ContenderCalls>(WORKER, [server.url]);
  await worker.call('start');
  await staggered(ttl, (name) => worker.call('acquire', name, { ttl }));
  await worker.kill();
  const killedAt = performance.now();
  let failed = 0;
  const out = await Promise.all(
    Array.from({ length: NAMES }, async (_, i) => {
      for (;;) {
        const lock = await instance.locks
          .acquire(`ttl:${ttl}:${i}`, { wait: WAIT, ttl })
          .catch(() => undefined);
        if (lock) return performance.now() - killedAt;
        failed += 1;
      }
    }),
  );
  const [first, last] = [Math.min(...out), Math.max(...out)].map((ms) => (ms / 1_000).toFixed(1));
  return { out: `${first} to ${last} s`, failed: (failed / NAMES).toFixed(1) };
}

async function main(): Promise<void> {
  const [lost, crashes] = await Promise.all([
    Promise.all(OUTAGES.map(lostIn)),
    Promise.all(TTLS.map(afterCrash)),
  ]);
  const rows = TTLS.map((ttl, i) => [
    `${ttl / 1_000} s`,
    ...lost.map((shares) => shares[i]),
    crashes[i]?.out,
    crashes[i]?.failed,
    `${(3_000 / ttl).toFixed(1)} a second`,
  ]);
  const outages = OUTAGES.map((outage) => `holds lost in ${outage / 1_000} s without Redis`);
  const head = [
    'ttl',
    ...outages,
    'name out after kill -9',
    'failed waits of each caller',
    'renewals of a hold',
  ];
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`);
  process.stdout.write(lines.join(''));
}

void main();
