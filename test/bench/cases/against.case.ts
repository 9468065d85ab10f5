import type { Bench, BenchCase, Goal } from '../bench.js';
import { loadContestant } from '../contestants.js';
import { perSecond, spread } from '../report/format.js';
import { earlierBuild } from '../revision/earlier-build.js';
import type { RoundFigures } from '../statistics/round-figures.js';
import { type Spread, spreadOf } from '../statistics/spread.js';
import { runContest, type Contest } from './contest.js';

const NOW = 'build-now';
const BEFORE = 'build-before';
const AGAIN = 'build-again';
const TODAY = [NOW, AGAIN];
const IDS = [BEFORE, ...TODAY];
/** Rounds with the same processes, after a rehearsal that does not count. */
const ROUNDS_OF_A_PROCESS = 6;
/** Milliseconds of a rehearsal: V8 has compiled what runs often. A service runs for days, not for seconds. */
const REHEARSAL = 2_000;
const RATE_AT_LEAST = 0.95;
const CPU_AT_MOST = 1.05;

const PERMITS = { limit: 10, part: 1 };
const MOSTLY_READERS = { limit: Infinity, part: 0.95 };

type Load = Pick<Contest, 'name' | 'processes' | 'load'>;

const LOADS: readonly Load[] = [
  ...[1, 64, 256].map((callers) => ({
    name: `free-${callers}`,
    processes: 1,
    load: { names: 'own' as const, callers, work: 0, record: false },
  })),
  oneName('hot-1x50', { processes: 1, callers: 50, work: 0 }),
  oneName('hot-4x25', { processes: 4, callers: 25, work: 0 }),
  oneName('hot-4x25-2ms', { processes: 4, callers: 25, work: 2 }),
  oneName('semaphore-4x25-2ms', { processes: 4, callers: 25, work: 2, sharing: PERMITS }),
  oneName('readers-4x25-2ms', { processes: 4, callers: 25, work: 2, sharing: MOSTLY_READERS }),
  oneName('handoff', { processes: 2, callers: 1, work: 3 }),
];

function oneName(
  name: string,
  { processes, ...load }: Pick<Contest['load'], 'callers' | 'work' | 'sharing'> & { processes: number },
): Load {
  return { name, processes, load: { names: 'one', record: false, ...load } };
}

/** The figures of one round, of each contestant. */
type Round = ReadonlyMap<string, RoundFigures>;

/** Holds of this working copy beside those of an earlier revision, and beside themselves. */
export function againstCase(revision: string): BenchCase {
  return {
    name: 'against',
    isQuick: false,
    async run(bench) {
      process.env['BENCH_BEFORE'] = earlierBuild(revision);
      const contestants = new Map<string, Awaited<ReturnType<typeof loadContestant>>>();
      for (const id of IDS) contestants.set(id, await loadContestant(id));
      const own = { ...bench, contestants };
      const loads = LOADS.filter(({ name }) => bench.cases.length === 0 || bench.cases.includes(name));
      if (loads.length === 0)
        throw new Error(`--against measures ${LOADS.map(({ name }) => name).join(', ')}, and nothing else.`);
      const rounds = new Map<string, Round[]>(loads.map(({ name }) => [name, []]));
      for (let set = 1; set <= bench.rounds; set++) {
        bench.say(`against ${revision}: processes ${set} of ${bench.rounds}`);
        await bench.pools.clear();
        for (const load of loads) {
          await runRound(own, withoutWork(load), 0, REHEARSAL);
          for (let round = 1; round <= ROUNDS_OF_A_PROCESS; round++) {
            // One hand-over at a time takes longer until chance evens out.
            const duration = load.load.work > 0 ? 500 : 250;
            rounds.get(load.name)?.push(await runRound(own, load, round, duration));
          }
        }
      }
      return {
        name: 'against',
        title: `Holds now and at ${revision}: median and range of ${bench.rounds * ROUNDS_OF_A_PROCESS} rounds in turn`,
        notes: [
          'The last column is the same build against itself: what is no further from 1 is no difference.',
        ],
        head: ['', 'before, holds/s', 'now, holds/s', 'now : before', 'CPU a hold', 'now : now again'],
        rows: [...rounds].map(([name, all]) => [
          name,
          spread(spreadOf(all.map((each) => each.get(BEFORE)?.rate)), perSecond),
          spread(spreadOf(all.map((each) => each.get(NOW)?.rate)), perSecond),
          ratioText(ratios(all, TODAY, BEFORE)),
          ratioText(ratios(all, TODAY, BEFORE, 'cpuPerHold')),
          ratioText(ratios(all, [NOW], AGAIN)),
        ]),
        goals: [...rounds].flatMap(([name, all]) => [
          goal(name, ratios(all, TODAY, BEFORE), { what: 'rate', atLeast: RATE_AT_LEAST }),
          goal(name, ratios(all, TODAY, BEFORE, 'cpuPerHold'), { what: 'CPU a hold', atMost: CPU_AT_MOST }),
        ]),
        figures: Object.fromEntries([...rounds].map(([name, all]) => [name, all.map(Object.fromEntries)])),
      };
    },
  };
}

/** The same load with as many holds as there can be. */
function withoutWork({ load, ...rest }: Load): Load {
  return { ...rest, load: { ...load, work: 0 } };
}

async function runRound(bench: Bench, load: Load, round: number, duration: number): Promise<Round> {
  const contest = {
    name: `against:${load.name}:${round}`,
    ids: turnsOf(round),
    processes: load.processes,
    load: load.load,
    warmUp: 50,
    duration,
  };
  const result = await runContest({ ...bench, rounds: 1, say: () => {} }, contest);
  const figures = new Map<string, RoundFigures>();
  for (const [id, rounds] of result) {
    if (rounds instanceof Error) throw rounds;
    for (const each of rounds) figures.set(id, each);
  }
  return figures;
}

/** Each comes first, second and third, and after each of the others, equally often. */
function turnsOf(round: number): readonly string[] {
  const rotated = [...IDS.slice(round % IDS.length), ...IDS.slice(0, round % IDS.length)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}

/** Of each round, and each of several to the same other. */
function ratios(
  rounds: readonly Round[],
  several: readonly string[],
  other: string,
  figure: 'rate' | 'cpuPerHold' = 'rate',
): Spread | undefined {
  return spreadOf(
    rounds.flatMap((each) =>
      several.map((one) => (each.get(one)?.[figure] ?? NaN) / (each.get(other)?.[figure] ?? NaN)),
    ),
  );
}

function ratioText(ratio: Spread | undefined): string {
  return spread(ratio, (value) => value.toFixed(3));
}

function goal(
  name: string,
  ratio: Spread | undefined,
  { what, atLeast = 0, atMost = Infinity }: { what: string; atLeast?: number; atMost?: number },
): Goal {
  const median = ratio?.median ?? NaN;
  const limit = atMost < Infinity ? `at most ${atMost}` : `at least ${atLeast}`;
  return {
    text: `${name}: ${limit} × the ${what} of before`,
    measured: median.toFixed(3),
    met: median >= atLeast && median <= atMost,
  };
}
