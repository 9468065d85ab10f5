/**
 * Contends for locks in all modes, over both clients, on one Redis, a Cluster and a quorum, with faults all the time:
 *
 * npm run soak -- --holds 1000000 [--seconds 3600] [--seed 1]
 *
 * Every hold writes to a resource with its fencing token. Each round checks exclusion, tokens, losses and errors; then
 * that no name is stuck, that waiters are served in arrival order, and that no process keeps memory. Prints a row for
 * each kind of servers, and exits with 1 after a violation.
 *
 * npm run soak -- --once 20000 [--seed 1]
 *
 * Runs so many names by `once()` instead, in processes that are killed, on a Redis that is killed. A journal in SQLite
 * counts effects and results.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Terms } from '../faults/support/contender.worker.js';
import { playOnce } from '../faults/support/once-chaos.js';
import { SeededRandom } from '../faults/support/seeded-random.js';
import { waitFor } from '../support/wait-for.js';
import { NAMES, onACluster, onAQuorum, onOneRedis, type Rig } from './rig.js';

const ROUND = { holds: 4_000, milliseconds: 60_000, pause: 2_000 };
/** Megabytes by which the heap of a process may grow between its first round and its last. */
const HEAP_GROWTH = 64;
const MODES: readonly [Terms, ...Terms[]] = [
  { mode: 'exclusive' },
  { mode: 'exclusive' },
  { mode: 'shared' },
  { mode: 'shared', limit: 3 },
  { mode: 'shared', limit: 4, permits: 2 },
];
/** A quorum has no shared mode. */
const EXCLUSIVE: typeof MODES = [{ mode: 'exclusive' }];

const KINDS = [
  { title: 'one Redis', start: onOneRedis, terms: MODES },
  { title: 'Cluster of 3', start: onACluster, terms: MODES },
  { title: 'quorum of 3', start: onAQuorum, terms: EXCLUSIVE },
] as const;
const CLIENTS = ['ioredis', 'node-redis'] as const;

interface Figures {
  holds: number;
  faults: number;
  readonly violations: string[];
}

/** Lets all processes contend until they have had so many holds, while faults happen. */
async function round(rig: Rig, terms: typeof MODES, random: SeededRandom, wanted: number): Promise<Figures> {
  await rig.open();
  const rush = { callers: 8, names: NAMES, maxWork: 20, impatience: 0.2, terms };
  await Promise.all(
    rig.workers.map((worker) =>
      worker.call('rush', { ...rush, seed: Math.floor(random.between(1, 2 ** 30)) }),
    ),
  );
  const end = performance.now() + ROUND.milliseconds;
  let [holds, faults] = [0, 0];
  while (holds < wanted && performance.now() < end) {
    faults += await rig.breakFor(ROUND.pause, random);
    holds = (await Promise.all(rig.workers.map((worker) => worker.call('progress')))).reduce(
      (a, b) => a + b,
      0,
    );
  }
  const report = await rig.close();
  const violations = [
    ...report.problems,
    ...report.refused.map(
      ({ name, code, message }) => `an acquire of ${name} was refused: ${code} ${message}`,
    ),
    ...(await remains(rig)),
  ];
  return { holds: report.holds.length, faults, violations };
}

/** Names that stay taken, and waiters that are served in another order than that of their arrival. */
async function remains({ operator, hasOrder }: Rig): Promise<string[]> {
  const violations: string[] = [];
  for (const name of NAMES) {
    const lock = await operator.acquire(name, { wait: 5_000 }).catch(() => undefined);
    if (!lock) violations.push(`${name} is stuck`);
    await lock?.release();
  }
  if (hasOrder) {
    const first = await operator.acquire('order');
    const served: number[] = [];
    const waits = [1, 2, 3].map((each) => operator.using('order', async () => void served.push(each)));
    await first.release();
    await Promise.all(waits);
    if (served.join('') !== '123') violations.push(`waiters were served in the order ${served.join(', ')}`);
  }
  const held = await waitFor(
    async () => {
      const names: string[] = [];
      for await (const { name } of operator.list()) names.push(name);
      return names.length === 0;
    },
    { timeout: 5_000, interval: 100 },
  ).catch(() => false);
  if (!held) violations.push('names are held after all callers have left');
  return violations;
}

/** Runs rounds on one kind of servers, over one client. */
async function soak(
  { start, terms }: (typeof KINDS)[number],
  client: string,
  { holds, until, random }: { readonly holds: number; readonly until: number; readonly random: SeededRandom },
): Promise<Figures> {
  // The processes read it when they start.
  process.env['LOCKS_CLIENT'] = client;
  await using rig = await start();
  const total: Figures = { holds: 0, faults: 0, violations: [] };
  const heaps: number[] = [];
  while (total.holds < holds && performance.now() < until) {
    const figures = await round(rig, terms, random, Math.min(ROUND.holds, holds - total.holds));
    total.holds += figures.holds;
    total.faults += figures.faults;
    total.violations.push(...figures.violations);
    await rig.open();
    heaps.push(Math.max(...(await Promise.all(rig.workers.map((worker) => worker.call('heap'))))));
    await rig.close();
  }
  const growth = Math.round(((heaps.at(-1) ?? 0) - (heaps[0] ?? 0)) / 2 ** 20);
  if (growth > HEAP_GROWTH) total.violations.push(`a process kept ${growth} MB`);
  return total;
}

/** Runs so many names by `once()`, over each client. */
async function soakOnce(names: number, random: SeededRandom): Promise<void> {
  print('| client | names | effects | results | kills | restarts | faults | violations | seconds |');
  print('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const client of CLIENTS) {
    const startedAt = performance.now();
    process.env['LOCKS_CLIENT'] = client;
    const figures = await playOnce(Math.ceil(names / CLIENTS.length), random);
    const { names: played, effects, answers, kills, restarts, faults, problems } = figures;
    const took = Math.round((performance.now() - startedAt) / 1_000);
    const row = [client, played, effects, answers, kills, restarts, faults, problems.length, took];
    print(`| ${row.join(' | ')} |`);
    printViolations(problems);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      holds: { type: 'string' },
      once: { type: 'string' },
      seconds: { type: 'string' },
      seed: { type: 'string' },
    },
  });
  const holds = Number(values.holds ?? 20_000);
  const seconds = Number(values.seconds ?? Infinity);
  const seed = Number(values.seed ?? randomInt(2 ** 31));
  const random = new SeededRandom(seed);
  if (values.once !== undefined) {
    print(`seed ${seed}\n`);
    return soakOnce(Number(values.once), random);
  }
  const runs = KINDS.flatMap((kind) => CLIENTS.map((client) => ({ kind, client })));
  print(
    `seed ${seed}\n\n| servers | client | holds | faults | violations | seconds |\n| --- | --- | --- | --- | --- | --- |`,
  );
  for (const { kind, client } of runs) {
    const startedAt = performance.now();
    const until = startedAt + (seconds * 1_000) / runs.length;
    const { violations, ...figures } = await soak(kind, client, {
      holds: holds / runs.length,
      until,
      random,
    });
    const took = Math.round((performance.now() - startedAt) / 1_000);
    print(`| ${[kind.title, client, figures.holds, figures.faults, violations.length, took].join(' | ')} |`);
    printViolations(violations);
  }
}

function printViolations(violations: readonly string[]): void {
  for (const violation of violations.slice(0, 20)) process.stderr.write(`${violation}\n`);
  if (violations.length > 0) process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

void main();
