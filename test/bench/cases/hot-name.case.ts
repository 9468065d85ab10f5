import type { Bench, BenchCase, Goal } from '../bench.js';
import { PEER_IDS } from '../contestants.js';
import { runContest, type Contest, type ContestResult } from './contest.js';
import {
  contestReport,
  exclusionGoal,
  fairnessGoal,
  idsOf,
  inUseGoal,
  judged,
  medianOf,
  nodeRedisGoals,
  overBestPeer,
  rateGoal,
  requestsGoal,
  type FigureColumn,
} from './contest-report.js';

/** One process, 50 callers, one name, nothing to do inside: against a mutex in memory, too. */
const hotInOneProcess: BenchCase = {
  name: 'hot-1x50',
  isQuick: true,
  async run(bench) {
    const contest: Contest = {
      name: 'hot-1x50',
      ids: idsOf(bench),
      processes: 1,
      load: { names: 'one', callers: 50, work: 0, record: false },
      warmUp: bench.quick ? 100 : 400,
      duration: bench.quick ? 200 : 1_000,
    };
    const result = await runContest(bench, contest);
    return contestReport(contest, result, {
      title: 'One hot name: 1 process, 50 callers, no work',
      columns: ['fairness'],
      goals: judged(
        rateGoal(result, { id: 'async-mutex', name: 'the mutex in memory' }, 1),
        overBestPeer(result, 30),
        requestsGoal(result, 0.4),
        exclusionGoal(result),
      ),
    });
  },
};

const hotInFourProcesses: BenchCase = {
  name: 'hot-4x25',
  isQuick: true,
  async run(bench) {
    const contest = fourProcesses(bench, 'hot-4x25', 0);
    const result = await runContest(bench, contest);
    return contestReport(contest, result, {
      title: 'One hot name: 4 processes × 25 callers, no work',
      columns: COLUMNS,
      goals: judged(
        overBestPeer(result, 50),
        fairnessGoal(result),
        requestsGoal(result, 0.4),
        exclusionGoal(result),
        ...nodeRedisGoals(result),
      ),
    });
  },
};

const hotWithWork: BenchCase = {
  name: 'hot-4x25-2ms',
  isQuick: false,
  async run(bench) {
    const contest = fourProcesses(bench, 'hot-4x25-2ms', 2);
    const result = await runContest(bench, contest);
    return contestReport(contest, result, {
      title: 'One hot name: 4 processes × 25 callers, 2 ms of work',
      columns: COLUMNS,
      notes: [IDEAL_NOTE],
      goals: judged(
        inUseGoal(result, 'in use', 0.93),
        waitGoal(result),
        peerWaitGoal(result, 5),
        exclusionGoal(result),
      ),
    });
  },
};

export const hotNameCases: readonly BenchCase[] = [hotInOneProcess, hotInFourProcesses, hotWithWork];

const CALLERS = 100;

const IDEAL_NOTE =
  'Ideal wait: 100 callers × the measured mean of a hold, for a timer of 2 ms fires a little late.';

const COLUMNS: readonly FigureColumn[] = ['fairness', 'inUse', 'wait'];

function fourProcesses(bench: Bench, name: string, work: number): Contest {
  return {
    name,
    ids: idsOf(bench, 'async-mutex'),
    processes: 4,
    load: { names: 'one', callers: CALLERS / 4, work, record: true },
    warmUp: bench.quick ? 200 : 500,
    duration: bench.quick ? 400 : work === 0 ? 1_500 : 2_500,
  };
}

function waitGoal(result: ContestResult): Goal | undefined {
  const p99 = medianOf(result, 'ours', ({ wait }) => wait?.p99);
  const hold = medianOf(result, 'ours', ({ meanHold }) => meanHold);
  if (p99 === undefined || hold === undefined) return undefined;
  const ideal = CALLERS * hold;
  const ratio = p99 / ideal;
  return {
    text: 'p99 of the wait at most 1.3 times the ideal',
    measured: `${ratio.toFixed(2)}: ${p99.toFixed(0)} of ${ideal.toFixed(0)} ms`,
    met: ratio <= 1.3,
  };
}

/** That every peer's 99th percentile of the wait is at least so many times ours. */
export function peerWaitGoal(result: ContestResult, atLeast: number): Goal | undefined {
  const ours = medianOf(result, 'ours', ({ wait }) => wait?.p99);
  const peers = [...result.keys()]
    .filter((id) => PEER_IDS.some((peer) => peer === id))
    .map((id) => ({ id, p99: medianOf(result, id, ({ wait }) => wait?.p99) }))
    .filter((peer): peer is { id: string; p99: number } => peer.p99 !== undefined)
    .toSorted((a, b) => a.p99 - b.p99);
  const [best] = peers;
  if (ours === undefined || !best) return undefined;
  const ratio = best.p99 / ours;
  return {
    text: `p99 of the wait with the best other package at least ${atLeast} times ours`,
    measured: `${ratio.toFixed(1)} times with ${best.id}`,
    met: ratio >= atLeast,
  };
}
