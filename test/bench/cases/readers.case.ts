import type { BenchCase, Goal } from '../bench.js';
import type { ContestResult } from './contest.js';
import {
  contestReport,
  exclusionGoal,
  fairnessGoal,
  fewRequestsGoal,
  judged,
  rateGoal,
} from './contest-report.js';
import { runSharedName, sharedName } from './shared-name.js';

const EXCLUSIVE = { id: 'ours-exclusive', name: 'the same with exclusive holds only' };

/** One hot name that most of the holds, or all, only read, beside a lock that does not tell readers from writers. */
export const readersCases: readonly BenchCase[] = [
  readers('readers-4x25-2ms', 0.95, 2, (result) => rateGoal(result, EXCLUSIVE, 5)),
  readers('readers-only-4x25', 1, 0, (result) => rateGoal(result, EXCLUSIVE, 2)),
];

function readers(
  name: string,
  part: number,
  work: number,
  rate: (result: ContestResult) => Goal | undefined,
): BenchCase {
  return {
    name,
    isQuick: work > 0,
    async run(bench) {
      const ids = bench.only.includes('ours') ? ['ours', EXCLUSIVE.id] : [];
      const contest = sharedName(bench, { name, ids, work, sharing: { limit: Infinity, part } });
      const result = await runSharedName(bench, contest);
      return contestReport(contest, result, {
        title: `Readers: 4 processes × 25 callers, one name, ${part * 100} % of the holds shared, ${workText(work)}`,
        columns: ['fairness', 'wait', 'writerWait'],
        goals: judged(
          rate(result),
          fewRequestsGoal(result, 0.4),
          fairnessGoal(result),
          exclusionGoal(result, 'nobody beside a writer'),
        ),
      });
    },
  };
}

/** How much there is to do inside. */
export function workText(work: number): string {
  return work === 0 ? 'no work' : `${work} ms of work`;
}
