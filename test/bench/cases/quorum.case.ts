import { RedisServer } from '../../support/redis-server.js';
import type { Bench, BenchCase, Goal } from '../bench.js';
import { addressOf } from '../contestant.js';
import { runContest, type Contest, type ContestResult } from './contest.js';
import {
  type FigureColumn,
  contestReport,
  exclusionGoal,
  judged,
  overBestPeer,
  requestsGoal,
} from './contest-report.js';

const NODES = 5;
/** Those that lock on a majority of servers. */
const QUORUM_IDS: readonly string[] = ['ours', 'redlock', 'redlock-universal'];

type Load = Pick<Contest, 'processes' | 'load' | 'warmUp' | 'duration'>;

const free: BenchCase = {
  name: 'quorum-free',
  isQuick: true,
  run: (bench) =>
    runOnQuorum(bench, 'quorum-free', {
      title: `Quorum of ${NODES}, free names: 1 process, 64 callers, each a name of its own`,
      columns: [],
      load: {
        processes: 1,
        load: { names: 'own', callers: 64, work: 0, record: false },
        warmUp: bench.quick ? 100 : 400,
        duration: bench.quick ? 300 : 1_000,
      },
      // One request to each node for what callers want at the same time, and one for what they release.
      goals: (result) => [requestsGoal(result, NODES), overBestPeer(result, 1.1)],
    }),
};

const hot: BenchCase = {
  name: 'quorum-hot',
  isQuick: false,
  run: (bench) =>
    runOnQuorum(bench, 'quorum-hot', {
      title: `Quorum of ${NODES}, one hot name: 4 processes × 25 callers, no work`,
      columns: ['fairness', 'handoff', 'wait'],
      load: {
        processes: 4,
        load: { names: 'one', callers: 25, work: 0, record: true },
        warmUp: bench.quick ? 200 : 500,
        duration: bench.quick ? 400 : 2_000,
      },
      goals: (result) => [overBestPeer(result, 10)],
    }),
};

/** Ours beside the others that do the same. */
export const quorumCases: readonly BenchCase[] = [free, hot];

async function runOnQuorum(
  bench: Bench,
  name: string,
  about: {
    title: string;
    columns: readonly FigureColumn[];
    load: Load;
    goals: (result: ContestResult) => (Goal | undefined)[];
  },
): Promise<ReturnType<typeof contestReport>> {
  const config = { save: '""', appendonly: 'no' };
  const servers = await Promise.all(Array.from({ length: NODES }, () => RedisServer.start({ config })));
  try {
    const [first = bench.server, ...others] = servers;
    const contest: Contest = {
      name,
      ids: bench.only.filter((id) => QUORUM_IDS.includes(id)),
      redis: { ...addressOf(first), others: others.map(addressOf) },
      servers,
      ...about.load,
    };
    const result = await runContest(bench, contest);
    return contestReport(contest, result, {
      title: about.title,
      columns: about.columns,
      notes: [`${NODES} independent servers; requests are counted on all of them.`],
      goals: judged(...about.goals(result), exclusionGoal(result)),
    });
  } finally {
    await bench.pools.clear();
    await Promise.all(servers.map((server) => server.stop()));
  }
}
