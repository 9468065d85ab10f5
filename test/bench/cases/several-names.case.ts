import type { Bench, BenchCase, Goal } from '../bench.js';
import type { SeveralNames } from '../load/load-plan.js';
import {
  contestReport,
  exclusionGoal,
  idsOf,
  judged,
  medianOf,
  rateGoal,
  requestsGoal,
} from './contest-report.js';
import { type Contest, type ContestResult, runContest } from './contest.js';

/** Packages that take several names as one lock. */
const IDS = ['ours', 'redlock'];
const PROCESSES = 2;
const CALLERS = 5;

const REDLOCK = { id: 'redlock', name: 'redlock with several resources' };

interface Variant {
  readonly name: string;
  readonly about: string;
  readonly names: SeveralNames;
  /** Milliseconds in each hold. */
  readonly work: number;
  readonly goals: (result: ContestResult) => (Goal | undefined)[];
}

/** Ten of a hundred names at once, as the lines of an order. */
export const severalNamesCases: readonly BenchCase[] = [
  severalNames({
    name: 'several-free',
    about: 'none of them contended, no work',
    names: { own: 10, shared: 0, outOf: 0 },
    work: 0,
    // One to acquire and one to release; a few more where a caller had to ask again.
    goals: (result) => [requestsGoal(result, 2.05), rateGoal(result, REDLOCK, 0.6)],
  }),
  severalNames({
    name: 'several-half',
    about: 'half of them contended, no work',
    names: { own: 5, shared: 5, outOf: 50 },
    work: 0,
    goals: (result) => [rateGoal(result, REDLOCK, 1.3), longestWaitGoal(result)],
  }),
  severalNames({
    name: 'several-half-2ms',
    about: 'half of them contended, 2 ms of work',
    names: { own: 5, shared: 5, outOf: 50 },
    work: 2,
    goals: (result) => [rateGoal(result, REDLOCK, 1), longestWaitGoal(result)],
  }),
];

function severalNames({ name, about, names, work, goals }: Variant): BenchCase {
  return {
    name,
    isQuick: true,
    async run(bench: Bench) {
      const contest: Contest = {
        name,
        ids: idsOf(bench).filter((id) => IDS.includes(id)),
        processes: PROCESSES,
        load: { names, callers: CALLERS, work, record: true },
        ...(names.shared === 0 && !bench.quick && { rehearsal: 2_000, turns: 3 }),
        warmUp: bench.quick ? 200 : 500,
        duration: bench.quick ? 400 : 2_500,
      };
      const result = await runContest(bench, contest);
      return contestReport(contest, result, {
        title: `Several names: ${PROCESSES} processes × ${CALLERS} callers, each hold 10 of 100 names, ${about}`,
        columns: ['fairness', 'wait'],
        notes: ['Exclusion is looked at within each process.'],
        goals: judged(...goals(result), exclusionGoal(result)),
      });
    },
  };
}

function longestWaitGoal(result: ContestResult): Goal | undefined {
  const ours = medianOf(result, 'ours', ({ wait }) => wait?.max);
  const theirs = medianOf(result, REDLOCK.id, ({ wait }) => wait?.max);
  if (ours === undefined || theirs === undefined) return undefined;
  return {
    text: `nobody waits for longer than the longest wait of ${REDLOCK.name}`,
    measured: `${ours.toFixed(0)} of ${theirs.toFixed(0)} ms`,
    met: ours <= theirs,
  };
}
