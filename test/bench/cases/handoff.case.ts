import type { BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import { runContest, type Contest } from './contest.js';
import { contestReport, exclusionGoal, idsOf, judged, medianOf } from './contest-report.js';
import { measureTrips } from './trips.js';

const WORK = 3;

/** A holder in one process and one waiter in another, over and over. */
export const handoffCase: BenchCase = {
  name: 'handoff',
  isQuick: false,
  async run(bench) {
    const contest: Contest = {
      name: 'handoff',
      ids: idsOf(bench, 'async-mutex'),
      processes: 2,
      load: { names: 'one', callers: 1, work: WORK, record: true },
      warmUp: 300,
      duration: 1_000,
    };
    const before = await measureTrips(addressOf(bench.server), WORK);
    const result = await runContest(bench, contest);
    const after = await measureTrips(addressOf(bench.server), WORK);
    const trip = (before.publish.p50 + after.publish.p50) / 2;
    const least = (before.handOn.p50 + after.handOn.p50) / 2;
    const inTurn = (before.inTurn.p50 + after.inTurn.p50) / 2;
    const handoff = medianOf(result, 'ours', (round) => round.handoff?.p50);
    return contestReport(contest, result, {
      title: `Hand-off latency: 2 processes × 1 caller, ${WORK} ms of work`,
      columns: ['fairness', 'handoff'],
      notes: [
        `PUBLISH to message between two processes, before and after: p50 ${before.publish.p50.toFixed(3)} and ${after.publish.p50.toFixed(3)} ms, p99 ${before.publish.p99.toFixed(3)} and ${after.publish.p99.toFixed(3)} ms.`,
        `The least script that hands a lock on, in its stead: p50 ${before.handOn.p50.toFixed(3)} and ${after.handOn.p50.toFixed(3)} ms, ${(least / trip).toFixed(2)} times as long.`,
        `The same where both processes take turns, and whoever has handed on asks again at once: p50 ${before.inTurn.p50.toFixed(3)} and ${after.inTurn.p50.toFixed(3)} ms, ${(inTurn / trip).toFixed(2)} times as long.`,
        'The hand-off counts only where the next holder is in the other process.',
      ],
      goals: judged(
        handoff === undefined
          ? undefined
          : {
              text: 'p50 at most 1.4 times a bare PUBLISH-to-message trip',
              measured: `${(handoff / trip).toFixed(2)}: ${handoff.toFixed(3)} of ${trip.toFixed(3)} ms`,
              met: handoff <= 1.4 * trip,
            },
        exclusionGoal(result),
      ),
    });
  },
};
