import type { RedisServer } from '../../support/redis-server.js';
import type { Bench } from '../bench.js';
import { addressOf, type RedisAddress } from '../contestant.js';
import type { LoadPool } from '../load/load-pool.js';
import type { LoadPlan } from '../load/load-plan.js';
import { figuresOf, type RoundFigures } from '../statistics/round-figures.js';

/** A load that all contestants are put under, one after the other, round by round. */
export interface Contest {
  readonly name: string;
  readonly ids: readonly string[];
  readonly processes: number;
  readonly load: Pick<LoadPlan, 'names' | 'callers' | 'work' | 'record' | 'sharing'>;
  /** Milliseconds of warm-up in the first round of new processes, where these are to have compiled what they run. */
  readonly rehearsal?: number;
  /** How often the rounds are run, with new processes each time, where differences are smaller than what noise makes. */
  readonly turns?: number;
  /** Milliseconds of each round. */
  readonly warmUp: number;
  readonly duration: number;
  /** Where the contestants find Redis, if not at the server itself. */
  readonly redis?: RedisAddress;
  /** The servers whose commands and CPU are counted, if not the one server. */
  readonly servers?: readonly RedisServer[];
}

/** The rounds of each contestant, or why there are none. */
export type ContestResult = ReadonlyMap<string, readonly RoundFigures[] | Error>;

/**
 * Runs the contest in alternating rounds (A B C C B A), so that a machine that drifts does not decide.
 *
 * Load processes stay idle while another contestant has its turn.
 */
export async function runContest(bench: Bench, contest: Contest): Promise<ContestResult> {
  const results = new Map<string, RoundFigures[] | Error>();
  for (const id of contest.ids) {
    results.set(id, (await failureToOpen(bench, id, contest)) ?? []);
  }
  const rounds = bench.rounds * (contest.turns ?? 1);
  for (let round = 1; round <= rounds; round++) {
    bench.say(`${contest.name}: round ${round} of ${rounds}`);
    if (round > 1 && isFirst(bench, round)) await bench.pools.clear();
    for (const id of round % 2 === 0 ? contest.ids.toReversed() : contest.ids) {
      const figures = results.get(id);
      if (!Array.isArray(figures)) continue;
      try {
        figures.push(await runRound(bench, id, contest, round));
      } catch (error) {
        results.set(id, error as Error);
        await bench.pools.discard(id);
      }
    }
  }
  return results;
}

/** Whether it is the first round of its processes. */
function isFirst({ rounds }: Bench, round: number): boolean {
  return (round - 1) % rounds === 0;
}

async function failureToOpen(bench: Bench, id: string, contest: Contest): Promise<Error | undefined> {
  const definition = bench.contestants.get(id);
  if (definition instanceof Error) return definition;
  try {
    await poolOf(bench, id, contest);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function poolOf(bench: Bench, id: string, { processes, redis }: Contest): Promise<LoadPool> {
  return bench.pools.get(id, processes, redis ?? addressOf(bench.server));
}

async function runRound(bench: Bench, id: string, contest: Contest, round: number): Promise<RoundFigures> {
  const pool = await poolOf(bench, id, contest);
  const servers = contest.servers ?? [bench.server];
  const cpuBefore = await cpuOf(servers, pool);
  await Promise.all(servers.map((server) => server.resetCommandCounts()));
  const { plan, results } = await pool.load(
    // Another name for each, and in each round: a lock that was left behind must not stop the next.
    { ...contest.load, name: `bench:${contest.name}:${round}:${id}` },
    { warmUp: (isFirst(bench, round) && contest.rehearsal) || contest.warmUp, duration: contest.duration },
  );
  const figures = figuresOf(plan, results, {
    requests: await countRequests(bench, id, servers),
    cpu: (await cpuOf(servers, pool)) - cpuBefore,
  });
  // Those that still wait would go on asking.
  if (figures.stuck > 0) await bench.pools.discard(id);
  return figures;
}

/** Milliseconds of CPU that the load processes and Redis have used. */
async function cpuOf(servers: readonly RedisServer[], pool: LoadPool): Promise<number> {
  const processes = await Promise.all(pool.processes.map((worker) => worker.call('cpu')));
  const all = await Promise.all(servers.map(cpuOfServer));
  return [...processes, ...all].reduce((sum, part) => sum + part, 0);
}

async function cpuOfServer(server: RedisServer): Promise<number> {
  const client = server.client();
  const info = await client.info('cpu');
  client.disconnect();
  const redis = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(
    ([, seconds]) => Number(seconds) * 1_000,
  );
  return redis.reduce((sum, part) => sum + part, 0);
}

/** Commands that the contestant's clients sent since the counts were reset, without those called by scripts. */
export async function countRequests(
  bench: Bench,
  id: string,
  servers: readonly RedisServer[] = [bench.server],
): Promise<number> {
  const definition = bench.contestants.get(id);
  if (!definition || definition instanceof Error) return NaN;
  const counts = await Promise.all(servers.map((server) => server.commandCounts()));
  return definition.sends.reduce((total, command) => {
    const share = definition.sendsAndCalls?.includes(command) ? 0.5 : 1;
    const sent = counts.reduce((sum, ofServer) => sum + (ofServer[command] ?? 0), 0);
    return total + share * sent;
  }, 0);
}
