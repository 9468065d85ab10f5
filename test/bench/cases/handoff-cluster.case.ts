import { RedisCluster } from '../../support/redis-cluster.js';
import type { BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import { LoadPool } from '../load/load-pool.js';
import { figuresOf, type RoundFigures } from '../statistics/round-figures.js';
import type { Contest } from './contest.js';
import { contestReport, exclusionGoal, judged, medianOf } from './contest-report.js';

const WORK = 3;
const ONE = 'ours';
const CLUSTER = 'ours-cluster';
const CONTEST: Contest = {
  name: 'handoff-cluster',
  ids: [ONE, CLUSTER],
  processes: 2,
  load: { names: 'one', callers: 1, work: WORK, record: true },
  warmUp: 300,
  duration: 1_000,
};

/** Hand-off on a Redis Cluster beside that on one Redis, in turns. */
export const handoffClusterCase: BenchCase = {
  name: CONTEST.name,
  isQuick: false,
  async run(bench) {
    await using cluster = await RedisCluster.start();
    const [node] = cluster.nodes;
    if (!node) throw new Error('The Cluster has no nodes');
    const pools = new Map([
      [ONE, await LoadPool.start(ONE, CONTEST.processes, addressOf(bench.server))],
      [CLUSTER, await LoadPool.start(CLUSTER, CONTEST.processes, node)],
    ]);
    const result = new Map<string, RoundFigures[]>(CONTEST.ids.map((id) => [id, []]));
    try {
      for (let round = 1; round <= bench.rounds; round++) {
        bench.say(`${CONTEST.name}: round ${round} of ${bench.rounds}`);
        for (const [id, pool] of pools) result.get(id)?.push(await runRound(pool, round));
      }
    } finally {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    }
    const p50 = (id: string): number => medianOf(result, id, ({ handoff }) => handoff?.p50) ?? NaN;
    return contestReport(CONTEST, result, {
      title: `Hand-off latency on a Redis Cluster (3 masters, 3 replicas) beside one Redis: 2 processes × 1 caller, ${WORK} ms of work`,
      columns: ['fairness', 'handoff'],
      notes: [
        `On the Cluster p50 is ${(p50(CLUSTER) / p50(ONE)).toFixed(2)} times that on one Redis in the same run.`,
        'The hand-off counts only where the next holder is in the other process. Requests and CPU are not counted here.',
      ],
      goals: judged(exclusionGoal(result), exclusionGoal(new Map([[ONE, result.get(CLUSTER) ?? []]]))),
    });
  },
};

async function runRound(pool: LoadPool, round: number): Promise<RoundFigures> {
  const { load, name } = CONTEST;
  const { plan, results } = await pool.load({ ...load, name: `bench:${name}:${round}` }, CONTEST);
  return figuresOf(plan, results, { requests: NaN, cpu: NaN });
}
