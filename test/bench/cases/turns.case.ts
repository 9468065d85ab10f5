import { join } from 'node:path';
import { startWorker, type Worker } from '../../support/worker.js';
import type { BenchCase } from '../bench.js';
import { addressOf, type RedisAddress } from '../contestant.js';
import type { TurnsCalls } from '../load/turns.process.js';
import { perSecond, spread } from '../report/format.js';
import { jainIndex } from '../statistics/fairness.js';
import { spreadOf } from '../statistics/spread.js';

const SIZES = [32, 128, 256, 512, 1_024];
/** Milliseconds in each hold. */
const WORK = [0, 0.1, 0.5, 2];
const PROCESSES = 4;
const CALLERS = 25;
const LASTS = 700;

interface Found {
  readonly rate: number;
  readonly longest: number;
  readonly fairness: number;
}

/** How long an instance may pass a name on in memory: what `handoff.max` changes, with `handoff.window` as it is. */
export const turnsCase: BenchCase = {
  name: 'turns',
  isQuick: false,
  async run(bench) {
    const file = join(__dirname, '../load/turns.process.ts');
    const workers = await Promise.all(Array.from({ length: PROCESSES }, () => startWorker<TurnsCalls>(file)));
    const found = new Map<string, Found[]>();
    try {
      const take = takeWith(workers, addressOf(bench.server));
      for (const max of SIZES) await take(max, 0);
      for (let round = 0; round < bench.rounds; round++) {
        bench.say(`turns: round ${round + 1} of ${bench.rounds}`);
        for (const work of WORK)
          for (const max of round % 2 === 0 ? SIZES : SIZES.toReversed()) {
            const what = rowOf(work, max);
            found.set(what, [...(found.get(what) ?? []), await take(max, work)]);
          }
      }
    } finally {
      await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
    }
    return {
      name: 'turns',
      title: `Turns: one hot name, ${PROCESSES} processes × ${CALLERS} callers, by handoff.max`,
      notes: ['Work of less than a millisecond keeps the processor busy, longer work sleeps.'],
      head: ['', 'holds/s (range)', 'longest wait, ms', 'fairness of processes (Jain)'],
      rows: WORK.flatMap((work) => SIZES.map((max) => rowOf(work, max))).map((what) => {
        const rounds = found.get(what) ?? [];
        return [
          what,
          spread(spreadOf(rounds.map(({ rate }) => rate)), perSecond),
          spread(spreadOf(rounds.map(({ longest }) => longest)), (value) => value.toFixed(0)),
          spread(spreadOf(rounds.map(({ fairness }) => fairness)), (value) => value.toFixed(3)),
        ];
      }),
      goals: [],
      figures: Object.fromEntries(found),
    };
  },
};

function rowOf(work: number, max: number): string {
  return `${work} ms of work, handoff.max ${max}`;
}

let names = 0;

/** Has all processes want one name, a new one each time. */
function takeWith(
  workers: readonly Worker<TurnsCalls>[],
  redis: RedisAddress,
): (max: number, work: number) => Promise<Found> {
  return async (max, work) => {
    const turns = { redis, name: `turns:${++names}`, max, callers: CALLERS, work, lasts: LASTS };
    const results = await Promise.all(workers.map((worker) => worker.call('take', turns)));
    const holds = results.map((each) => each.holds);
    return {
      rate: (1_000 * holds.reduce((sum, each) => sum + each, 0)) / LASTS,
      longest: Math.max(...results.map(({ longest }) => longest)),
      fairness: jainIndex(holds),
    };
  };
}
