import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchCase, CaseReport, Goal } from '../bench.js';
import { addressOf } from '../contestant.js';
import { CONTESTANT_IDS, loadContestant, ONCE_FLOOR, ONCE_IDS } from '../contestants.js';
import { now } from '../load/shared-clock.js';
import { describeError, spread } from '../report/format.js';
import { type Percentiles, percentilesOf, spreadOf } from '../statistics/spread.js';
import { countRequests } from './contest.js';
import { goalOf, judged } from './contest-report.js';

const PROCESSES = 4;
const CALLERS = 25;
/** Milliseconds of the work. */
const WORK = 20;
const BURSTS = 20;
/** Bursts before, which do not count: with cold code, a burst takes twice the CPU. */
const WARM_UP = 80;
const READS = 1_000;
/** Milliseconds until requests that follow a result have been sent: releases, and callers that leave the queue. */
const AFTER = 100;

/** What one round of bursts, or of reads, has cost. */
interface OnceFigures {
  /** Requests of each caller. */
  readonly requests: number;
  /** Runs of the work in each burst; the most of all bursts. */
  readonly runs: number;
  /** Milliseconds of a caller beyond the longest run, from its call to its result. */
  readonly beyond: Percentiles;
}

interface OnceResult {
  readonly rounds: ReadonlyMap<string, readonly OnceFigures[] | Error>;
  /** The settings of contestants that take part in no other case. */
  readonly notes: readonly string[];
}

type Round = (bench: Bench, id: string, name: string) => Promise<OnceFigures>;

/** 100 callers in four processes want one result. */
const burstCase: BenchCase = {
  name: 'once-burst',
  isQuick: true,
  async run(bench) {
    const result = await runRounds(bench, 'once-burst', runBursts, [...ONCE_IDS, ONCE_FLOOR]);
    const ours = result.rounds.get('ours');
    return onceReport(result, {
      name: 'once-burst',
      title: `One result: ${PROCESSES} processes × ${CALLERS} callers, ${WORK} ms of work`,
      beyond: 'beyond the work p50 / p99 / max, ms',
      goals: judged(
        requestsGoal(ours, 0.3),
        runsGoal(ours),
        goalOf(ours, ({ beyond }) => beyond.p99, {
          text: 'the result at most 5 ms after the work has lasted, p99',
          format: (value) => `${twoDigits(value)} ms`,
          atMost: 5,
        }),
      ),
    });
  },
};

/** One caller reads a kept result. */
const keptCase: BenchCase = {
  name: 'once-kept',
  isQuick: true,
  async run(bench) {
    const result = await runRounds(bench, 'once-kept', readKept, ONCE_IDS);
    return onceReport(result, {
      name: 'once-kept',
      title: 'A kept result: 1 of 4 processes, 1 caller, one read after the other',
      beyond: 'a read p50 / p99 / max, ms',
      goals: judged(requestsGoal(result.rounds.get('ours'), 1)),
    });
  },
};

export const onceCases: readonly BenchCase[] = [burstCase, keptCase];

/** Alternating rounds, as in other cases, with contestants that take part in no other case. */
async function runRounds(
  bench: Bench,
  name: string,
  run: Round,
  all: readonly string[],
): Promise<OnceResult> {
  const contestants = new Map(bench.contestants);
  const ids = all.filter((id) => bench.only.includes(id) || (!bench.quick && !isElsewhere(id)));
  for (const id of ids)
    if (!contestants.has(id)) contestants.set(id, await loadContestant(id).catch((error: Error) => error));
  const results = new Map<string, OnceFigures[] | Error>(ids.map((id) => [id, []]));
  for (let round = 1; round <= bench.rounds; round++) {
    bench.say(`${name}: round ${round} of ${bench.rounds}`);
    for (const id of round % 2 === 0 ? ids.toReversed() : ids) {
      const figures = results.get(id);
      const definition = contestants.get(id);
      if (!Array.isArray(figures)) continue;
      try {
        if (definition instanceof Error) throw definition;
        figures.push(await run({ ...bench, contestants }, id, `bench:${name}:${round}:${id}`));
      } catch (error) {
        results.set(id, error as Error);
        await bench.pools.discard(id);
      }
    }
  }
  const notes = ids
    .filter((id) => !isElsewhere(id))
    .map((id) => {
      const definition = contestants.get(id);
      return `${id}: ${definition instanceof Error ? describeError(definition) : definition?.settings}`;
    });
  return { rounds: results, notes };
}

function isElsewhere(id: string): boolean {
  return CONTESTANT_IDS.some((each) => each === id);
}

async function runBursts(bench: Bench, id: string, name: string): Promise<OnceFigures> {
  const { processes } = await bench.pools.get(id, PROCESSES, addressOf(bench.server));
  const burst = async (number: string): Promise<{ runs: number; beyond: number[] }> => {
    const plan = { name: `${name}:${number}`, callers: CALLERS, work: WORK, startAt: now() + 20 };
    const results = await Promise.all(processes.map((worker) => worker.call('burst', plan)));
    const [failure] = results.flatMap(({ failures }) => failures);
    if (failure !== undefined) throw new Error(failure);
    const runs = results.flatMap((each) => each.runs);
    const longest = Math.max(...runs.map(({ from, to }) => to - from));
    return {
      runs: runs.length,
      // From the begin of the caller's own process: processes do not wake at the same moment.
      beyond: results.flatMap(({ beganAt, resultsAt }) => [...resultsAt].map((at) => at - beganAt - longest)),
    };
  };
  // Also loads the scripts.
  for (let i = 0; i < (bench.quick ? 1 : WARM_UP); i++) await burst(`warm-up:${i}`);
  await sleep(AFTER);
  await bench.server.resetCommandCounts();
  const bursts: Awaited<ReturnType<typeof burst>>[] = [];
  const count = bench.quick ? 3 : BURSTS;
  for (let i = 0; i < count; i++) bursts.push(await burst(String(i)));
  await sleep(AFTER);
  return {
    requests: (await countRequests(bench, id)) / (count * PROCESSES * CALLERS),
    runs: Math.max(...bursts.map(({ runs }) => runs)),
    beyond: someOf(bursts.flatMap(({ beyond }) => beyond)),
  };
}

async function readKept(bench: Bench, id: string, name: string): Promise<OnceFigures> {
  const { processes } = await bench.pools.get(id, PROCESSES, addressOf(bench.server));
  const [reader] = processes;
  if (!reader) throw new Error('A process that reads is needed');
  const times = bench.quick ? 100 : READS;
  await reader.call('readKept', name, times);
  await sleep(AFTER);
  await bench.server.resetCommandCounts();
  const took = await reader.call('readKept', name, times);
  return { requests: (await countRequests(bench, id)) / times, runs: 0, beyond: someOf([...took]) };
}

function someOf(samples: readonly number[]): Percentiles {
  const percentiles = percentilesOf(Float64Array.from(samples));
  if (!percentiles) throw new Error('No caller had a result');
  return percentiles;
}

function onceReport(
  { rounds: all, notes }: OnceResult,
  { beyond, ...about }: Pick<CaseReport, 'name' | 'title' | 'goals'> & { beyond: string },
): CaseReport {
  return {
    ...about,
    notes,
    head: ['', 'requests a caller', 'runs', beyond, 'errors'],
    rows: [...all].map(([id, rounds]) =>
      rounds instanceof Error
        ? [id, 'could not run', '', '', describeError(rounds)]
        : [
            id,
            spread(spreadOf(rounds.map(({ requests }) => requests)), twoDigits),
            String(Math.max(...rounds.map(({ runs }) => runs))),
            (['p50', 'p99', 'max'] as const)
              .map((which) => spreadOf(rounds.map((each) => each.beyond[which]))?.median.toFixed(2))
              .join(' / '),
            '',
          ],
    ),
    figures: Object.fromEntries(
      [...all].map(([id, rounds]) => [id, rounds instanceof Error ? { error: rounds.message } : rounds]),
    ),
  };
}

type Rounds = readonly OnceFigures[] | Error | undefined;

const twoDigits = (value: number): string => value.toFixed(2);

function requestsGoal(rounds: Rounds, atMost: number): Goal | undefined {
  const goal = goalOf(rounds, ({ requests }) => requests, {
    text: `at most ${atMost} requests a caller`,
    format: twoDigits,
    atMost,
  });
  return goal && { ...goal, isCount: true };
}

function runsGoal(rounds: Rounds): Goal | undefined {
  const goal = goalOf(rounds, ({ runs }) => runs, {
    text: 'one run in each burst',
    format: twoDigits,
    atMost: 1,
  });
  return goal && { ...goal, isCount: true };
}
