import type { BenchCase, Goal } from '../bench.js';
import type { ContestResult } from './contest.js';
import {
  contestReport,
  exclusionGoal,
  fairnessGoal,
  fewRequestsGoal,
  inUseGoal,
  judged,
  overBestPeer,
} from './contest-report.js';
import { peerWaitGoal } from './hot-name.case.js';
import { workText } from './readers.case.js';
import { runSharedName, sharedName } from './shared-name.js';

const PERMITS = { limit: 10, part: 1 };
/** Those that have semaphores. */
const IDS: readonly string[] = ['ours', 'redis-semaphore'];

/** One name with 10 permits. */
export const semaphoreCases: readonly BenchCase[] = [
  semaphore('semaphore-4x25', 0, 8, () => []),
  semaphore('semaphore-4x25-2ms', 2, 1, (result) => [
    inUseGoal(result, 'permits in use', 0.92),
    fewRequestsGoal(result, 0.2),
    peerWaitGoal(result, 5),
  ]),
];

function semaphore(
  name: string,
  work: number,
  timesPeer: number,
  goals: (result: ContestResult) => (Goal | undefined)[],
): BenchCase {
  return {
    name,
    isQuick: work > 0,
    async run(bench) {
      const ids = IDS.filter((id) => bench.only.includes(id));
      const contest = sharedName(bench, { name, ids, work, sharing: PERMITS });
      const result = await runSharedName(bench, contest);
      return contestReport(contest, result, {
        title: `Semaphore: 4 processes × 25 callers, one name with ${PERMITS.limit} permits, ${workText(work)}`,
        columns: ['fairness', 'inUse', 'wait'],
        notes: ['"In use" is the part of the permits.'],
        goals: judged(
          overBestPeer(result, timesPeer),
          ...goals(result),
          fairnessGoal(result),
          exclusionGoal(result, `never more than ${PERMITS.limit} holders`),
        ),
      });
    },
  };
}
