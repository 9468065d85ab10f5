import type { Bench, CaseReport, Goal } from '../bench.js';
import { PEER_IDS, REPRESENTATIVES } from '../contestants.js';
import { describeError, perSecond, spread } from '../report/format.js';
import type { RoundFigures } from '../statistics/round-figures.js';
import { type Percentiles, type Spread, spreadOf } from '../statistics/spread.js';
import type { Contest, ContestResult } from './contest.js';

/** Columns that a case may show beside the rate. */
export type FigureColumn = 'fairness' | 'wait' | 'writerWait' | 'inUse' | 'handoff';

/** A table of a contest's rounds, ours first. */
export function contestReport(
  { name }: Contest,
  result: ContestResult,
  about: {
    title: string;
    notes?: readonly string[];
    columns: readonly FigureColumn[];
    goals: readonly Goal[];
  },
): CaseReport {
  const extra = {
    fairness: 'fairness (Jain)',
    inUse: 'in use',
    wait: 'wait p50 / p99 / max, ms',
    writerWait: "writers' wait, ms",
    handoff: 'hand-off p50 / p99, ms',
  };
  const columns = about.columns;
  return {
    name,
    title: about.title,
    notes: about.notes ?? [],
    head: [
      '',
      'holds/s (range)',
      'ours is',
      'requests a hold',
      'CPU µs a hold',
      ...columns.map((column) => extra[column]),
      'exclusion and errors',
    ],
    rows: [...result].map(([id, rounds]) => {
      if (rounds instanceof Error)
        return [id, 'could not run', '', '', '', ...columns.map(() => ''), describeError(rounds)];
      return [
        id,
        spread(spreadOf(rounds.map(({ rate }) => rate)), perSecond),
        ratioText(result, id),
        spread(spreadOf(rounds.map(({ requestsPerHold }) => requestsPerHold)), (value) => value.toFixed(2)),
        spread(spreadOf(rounds.map(({ cpuPerHold }) => cpuPerHold)), (value) =>
          value.toFixed(value < 10 ? 1 : 0),
        ),
        ...columns.map((column) => CELLS[column](rounds)),
        troublesOf(rounds),
      ];
    }),
    goals: about.goals,
    figures: Object.fromEntries(
      [...result].map(([id, rounds]) => [id, rounds instanceof Error ? { error: rounds.message } : rounds]),
    ),
  };
}

/** The median of a figure over the rounds of one contestant. */
export function medianOf(
  result: ContestResult,
  id: string,
  figure: (round: RoundFigures) => number | undefined,
): number | undefined {
  const rounds = result.get(id);
  if (!rounds || rounds instanceof Error) return undefined;
  return spreadOf(rounds.map(figure))?.median;
}

/** The peer with the highest median, and that. */
function bestPeer(result: ContestResult): { id: string; rate: number } | undefined {
  return PEER_IDS.map((id) => ({ id, rate: medianOf(result, id, ({ rate }) => rate) ?? 0 }))
    .filter(({ rate }) => rate > 0)
    .toSorted((a, b) => b.rate - a.rate)[0];
}

/** That ours is at least so many times another's rate; undefined where one of them did not run. */
export function rateGoal(
  result: ContestResult,
  other: { id: string; name: string } | undefined,
  atLeast: number,
): Goal | undefined {
  const ratio = other && timesRateOf(result, other.id);
  if (!other || ratio === undefined) return undefined;
  return {
    text: `at least ${atLeast} times ${other.name}`,
    measured: timesText(ratio),
    met: ratio.median >= atLeast,
  };
}

/** That ours is at least so many times the rate of the best peer. */
export function overBestPeer(result: ContestResult, atLeast: number): Goal | undefined {
  const best = bestPeer(result);
  const goal = rateGoal(result, best && { id: best.id, name: 'the best other package' }, atLeast);
  return best && goal && { ...goal, measured: `${goal.measured} times ${best.id}` };
}

/** A goal for a figure of ours, by its median over the rounds. */
function figureGoal(
  result: ContestResult,
  figure: (round: RoundFigures) => number | undefined,
  about: FigureGoal,
): Goal | undefined {
  return goalOf(result.get('ours'), figure, about);
}

/** A goal for a figure, by its median over the rounds; undefined where the contestant did not run. */
export function goalOf<T>(
  rounds: readonly T[] | Error | undefined,
  figure: (round: T) => number | undefined,
  { text, format, atLeast = -Infinity, atMost = Infinity }: FigureGoal,
): Goal | undefined {
  const found = Array.isArray(rounds) ? spreadOf((rounds as readonly T[]).map(figure)) : undefined;
  if (found === undefined) return undefined;
  return { text, measured: spread(found, format), met: found.median >= atLeast && found.median <= atMost };
}

interface FigureGoal {
  readonly text: string;
  readonly format: (value: number) => string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** That callers of ours get about the same number of holds. */
export function fairnessGoal(result: ContestResult): Goal | undefined {
  return figureGoal(result, ({ fairness }) => fairness, {
    text: 'fairness at least 0.99',
    format: (value) => value.toFixed(3),
    atLeast: 0.99,
  });
}

/** That somebody of ours is inside for at least so much of the time. */
export function inUseGoal(result: ContestResult, what: string, atLeast: number): Goal | undefined {
  return figureGoal(result, ({ inUse }) => inUse, {
    text: `${what} at least ${atLeast * 100} % of the time`,
    format: (value) => `${(value * 100).toFixed(1)} %`,
    atLeast,
  });
}

/**
 * How many times another's rate one of ours has, in each round, in which both had the machine as it was at that time;
 * undefined where one of them did not run.
 */
function timesRateOf(result: ContestResult, other: string, ours = 'ours'): Spread | undefined {
  const [one, two] = [result.get(ours), result.get(other)];
  if (!Array.isArray(one) || !Array.isArray(two)) return undefined;
  const rounds: readonly RoundFigures[] = two;
  return spreadOf(one.map(({ rate }: RoundFigures, i) => rate / (rounds[i]?.rate ?? NaN)));
}

/** That it goes over node-redis nearly as fast, and as safely. */
export function nodeRedisGoals(result: ContestResult): (Goal | undefined)[] {
  const ratio = timesRateOf(result, 'ours', 'ours-node-redis');
  const exclusion = exclusionGoal(result, 'over node-redis no two holders at once', 'ours-node-redis');
  if (ratio === undefined) return [exclusion];
  return [
    {
      text: 'over node-redis at least 0.8 times as fast as over ioredis',
      measured: timesText(ratio),
      met: ratio.median >= 0.8,
    },
    exclusion,
  ];
}

/** That nobody of ours was inside together with another, or with more than may be, in any round. */
export function exclusionGoal(
  result: ContestResult,
  meaning = 'no two holders at once',
  id = 'ours',
): Goal | undefined {
  const rounds = result.get(id);
  if (!rounds || rounds instanceof Error) return undefined;
  const overlaps = rounds.reduce((sum, round) => sum + (round.overlaps ?? 0), 0);
  const failed = rounds.reduce((sum, round) => sum + failuresOf(round), 0);
  return {
    text: `${meaning}, no failed or stuck caller`,
    measured: `${overlaps} overlaps, ${failed} failed or stuck`,
    met: overlaps === 0 && failed === 0,
    isCount: true,
  };
}

/** That ours sends at most so many commands for each hold. */
export function requestsGoal(result: ContestResult, atMost: number): Goal | undefined {
  const goal = figureGoal(result, ({ requestsPerHold }) => requestsPerHold, {
    text: `at most ${atMost} requests a hold`,
    format: (value) => value.toFixed(3),
    atMost,
  });
  return goal && { ...goal, isCount: true };
}

/** A goal and no count that holds everywhere: on a slow machine fewer holds come into one window. */
export function fewRequestsGoal(result: ContestResult, atMost: number): Goal | undefined {
  const goal = requestsGoal(result, atMost);
  return goal && { ...goal, isCount: false };
}

/** Leaves out the goals that could not be judged. */
export function judged(...goals: (Goal | undefined)[]): Goal[] {
  return goals.filter((goal) => goal !== undefined);
}

/** The contestants that were asked for, but for some, in the order of the tables. */
export function idsOf(bench: Bench, ...without: readonly string[]): string[] {
  return bench.only.filter((id) => !without.includes(id));
}

/** One contestant of each kind, of those that were asked for. */
export function representativesOf(bench: Bench): string[] {
  return bench.only.filter((id) => REPRESENTATIVES.includes(id));
}

function ratioText(result: ContestResult, id: string): string {
  const ratio = timesRateOf(result, id);
  if (id === 'ours' || ratio === undefined) return '';
  return `${times(ratio.median)} ×`;
}

function timesText(ratio: Spread): string {
  return spread(ratio, times);
}

function times(value: number): string {
  return value.toFixed(value < 10 ? 2 : 0);
}

const CELLS: Readonly<Record<FigureColumn, (rounds: readonly RoundFigures[]) => string>> = {
  fairness: (rounds) => spread(spreadOf(rounds.map(({ fairness }) => fairness)), (value) => value.toFixed(3)),
  inUse: (rounds) =>
    spread(spreadOf(rounds.map(({ inUse }) => inUse)), (value) => `${(value * 100).toFixed(1)} %`),
  handoff: (rounds) =>
    (['p50', 'p99'] as const)
      .map((which) => spreadOf(rounds.map(({ handoff }) => handoff?.[which]))?.median.toFixed(2) ?? '–')
      .join(' / '),
  wait: (rounds) => waitText(rounds.map(({ wait }) => wait)),
  writerWait: (rounds) => waitText(rounds.map(({ writerWait }) => writerWait)),
};

function waitText(waits: readonly (Percentiles | undefined)[]): string {
  return (['p50', 'p99', 'max'] as const)
    .map((which) => spreadOf(waits.map((wait) => wait?.[which]))?.median.toFixed(1) ?? '–')
    .join(' / ');
}

function failuresOf({ failures, stuck }: RoundFigures): number {
  return Object.values(failures).reduce((sum, count) => sum + count, stuck);
}

function troublesOf(rounds: readonly RoundFigures[]): string {
  const overlaps = rounds.reduce((sum, round) => sum + (round.overlaps ?? 0), 0);
  const stuck = rounds.reduce((sum, round) => sum + round.stuck, 0);
  const failed = rounds.reduce((sum, round) => sum + failuresOf(round), 0) - stuck;
  const example = rounds.flatMap(({ failures }) => Object.keys(failures))[0];
  const troubles = [
    overlaps > 0 ? `BROKEN: ${overlaps} overlaps` : '',
    stuck > 0 ? `${stuck} callers stuck` : '',
    failed > 0 ? `${failed} failed, as: ${describeError(example)}` : '',
  ].filter((trouble) => trouble !== '');
  if (troubles.length > 0) return troubles.join('; ');
  return rounds.some((round) => round.overlaps !== undefined) ? 'held' : 'own names';
}
