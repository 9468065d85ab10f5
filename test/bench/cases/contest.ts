import type { Bench } from '../bench.js';
import { addressOf, type RedisAddress } from '../contestant.js';
import { LoadPool } from '../load/load-pool.js';
import type { LoadPlan } from '../load/load-plan.js';
import { figuresOf, type RoundFigures } from '../statistics/round-figures.js';

/** A load that all contestants are put under, one after the other, round by round. */
export interface Contest {
  readonly name: string;
  readonly ids: readonly string[];
  readonly processes: number;
  readonly load: Pick<LoadPlan, 'names' | 'callers' | 'work' | 'record'>;
  /** Milliseconds of each round. */
  readonly warmUp: number;
  readonly duration: number;
  /** Where the contestants find Redis, if not at the server itself. */
  readonly redis?: RedisAddress;
}

/** The rounds of each contestant, or why there are none. */
export type ContestResult = ReadonlyMap<string, readonly RoundFigures[] | Error>;

/**
 * Runs the contest in alternating rounds (A B C A B C), so that a machine that drifts does not decide.
 *
 * Load processes stay idle while another contestant has its turn.
 */
export async function runContest(bench: Bench, contest: Contest): Promise<ContestResult> {
  const pools = new Map<string, LoadPool>();
  const results = new Map<string, RoundFigures[] | Error>();
  try {
    for (const id of contest.ids) {
      const opened = await openPool(bench, id, contest);
      if (opened instanceof LoadPool) pools.set(id, opened);
      results.set(id, opened instanceof LoadPool ? [] : opened);
    }
    for (let round = 1; round <= bench.rounds; round++) {
      bench.say(`${contest.name}: round ${round} of ${bench.rounds}`);
      for (const id of contest.ids) {
        const pool = pools.get(id);
        const rounds = results.get(id);
        if (!pool || !Array.isArray(rounds)) continue;
        try {
          rounds.push(await runRound(bench, id, pool, contest, round));
        } catch (error) {
          results.set(id, error as Error);
        }
      }
    }
  } finally {
    await Promise.all([...pools.values()].map((pool) => pool.close()));
  }
  return results;
}

async function openPool(bench: Bench, id: string, { processes, redis }: Contest): Promise<LoadPool | Error> {
  const definition = bench.contestants.get(id);
  if (definition instanceof Error) return definition;
  try {
    return await LoadPool.start(id, processes, redis ?? addressOf(bench.server));
  } catch (error) {
    return error as Error;
  }
}

async function runRound(
  bench: Bench,
  id: string,
  pool: LoadPool,
  contest: Contest,
  round: number,
): Promise<RoundFigures> {
  await bench.server.resetCommandCounts();
  const { plan, results } = await pool.load(
    // Another name in each round: a lock that was left behind must not stop the next.
    { ...contest.load, name: `bench:${contest.name}:${round}` },
    contest,
  );
  return figuresOf(plan, results, await countRequests(bench, id));
}

/** Commands that the contestant's clients sent since the counts were reset, without those called by scripts. */
export async function countRequests(bench: Bench, id: string): Promise<number> {
  const definition = bench.contestants.get(id);
  if (!definition || definition instanceof Error) return NaN;
  const counts = await bench.server.commandCounts();
  return definition.sends.reduce((total, command) => total + (counts[command] ?? 0), 0);
}
