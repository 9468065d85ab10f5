import type { Bench, BenchCase, Goal } from '../bench.js';
import { keepAwake } from '../load/keep-awake.js';
import { runContest, type Contest, type ContestResult } from './contest.js';
import {
  contestReport,
  exclusionGoal,
  idsOf,
  judged,
  nodeRedisGoals,
  overBestPeer,
  rateGoal,
  requestsGoal,
} from './contest-report.js';

const PLAIN = { id: 'plain-floor', name: 'the plain floor' };
const REDLOCK = { id: 'redlock', name: 'redlock' };
const CORKED = { id: 'corked-floor', name: 'the corked floor' };

/** Each caller locks and unlocks a name that nobody else wants. */
export const freeNamesCases: readonly BenchCase[] = [
  freeNames(1, (result) => [rateGoal(result, PLAIN, 0.73), rateGoal(result, REDLOCK, 1)]),
  freeNames(64, (result) => [rateGoal(result, CORKED, 0.65), overBestPeer(result, 2.2)]),
  freeNames(256, (result) => [
    rateGoal(result, CORKED, 0.8),
    overBestPeer(result, 2.2),
    ...nodeRedisGoals(result),
  ]),
];

function freeNames(callers: number, goals: (result: ContestResult) => (Goal | undefined)[]): BenchCase {
  const name = `free-${callers}`;
  return {
    name,
    isQuick: true,
    async run(bench: Bench) {
      const contest: Contest = {
        name,
        ids: idsOf(bench, 'async-mutex'),
        processes: 1,
        load: { names: 'own', callers, work: 0, record: false },
        ...(callers === 1 && !bench.quick && { rehearsal: 3_000, turns: 3 }),
        warmUp: bench.quick ? 100 : 400,
        duration: bench.quick ? 200 : 1_000,
      };
      const run = (): Promise<ContestResult> => runContest(bench, contest);
      const result = await (callers === 1 ? keepAwake(run) : run());
      return contestReport(contest, result, {
        title: `Free names: 1 process, ${callers} caller${callers === 1 ? '' : 's'}, each a name of its own`,
        columns: [],
        goals: judged(...goals(result), requestsGoal(result, 2), exclusionGoal(result)),
      });
    },
  };
}
