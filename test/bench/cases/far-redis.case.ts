import { TcpProxy } from '../../support/tcp-proxy.js';
import type { BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import { runContest, type Contest } from './contest.js';
import { contestReport, exclusionGoal, judged, medianOf, representativesOf } from './contest-report.js';

/** Milliseconds that the network adds in each direction. */
const DELAY = 5;

/** Four processes at a Redis that is a network away. */
export const farRedisCase: BenchCase = {
  name: 'hot-4x25-2ms-far',
  isQuick: false,
  async run(bench) {
    await using proxy = await TcpProxy.start(bench.server);
    proxy.delay(DELAY);
    const contest: Contest = {
      name: 'hot-4x25-2ms-far',
      ids: representativesOf(bench),
      processes: 4,
      load: { names: 'one', callers: 25, work: 2, record: true },
      warmUp: 500,
      duration: 2_000,
      redis: addressOf(proxy),
    };
    const client = bench.server.client({ port: proxy.port });
    await client.ping();
    const sentAt = performance.now();
    for (let ping = 0; ping < 20; ping++) await client.ping();
    const trip = (performance.now() - sentAt) / 20;
    client.disconnect();
    const result = await runContest(bench, contest);
    const handoff = medianOf(result, 'ours', (round) => round.handoff?.p50);
    return contestReport(contest, result, {
      title: `One hot name: 4 processes × 25 callers, 2 ms of work, ${DELAY} ms more each way to Redis`,
      columns: ['fairness', 'inUse', 'handoff', 'wait'],
      notes: [`One round trip (PING) took ${trip.toFixed(1)} ms.`],
      goals: judged(
        handoff === undefined
          ? undefined
          : {
              text: 'hand-off p50 at most 1.3 round trips',
              measured: `${(handoff / trip).toFixed(2)} (${handoff.toFixed(1)} ms)`,
              met: handoff <= 1.3 * trip,
            },
        exclusionGoal(result),
      ),
    });
  },
};
