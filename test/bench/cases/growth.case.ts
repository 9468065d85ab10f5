import type { Bench, BenchCase } from '../bench.js';
import { perSecond, spread } from '../report/format.js';
import { spreadOf } from '../statistics/spread.js';
import { runContest, type Contest } from './contest.js';

interface Step {
  readonly what: string;
  readonly processes: number;
  readonly load: Contest['load'];
}

const STEPS: readonly Step[] = [
  ...[1, 2, 4, 8].map((processes) => ({
    what: `one hot name, ${processes} process${processes === 1 ? '' : 'es'} × 25 callers`,
    processes,
    load: { names: 'one' as const, callers: 25, work: 0, record: false },
  })),
  ...[1, 100, 10_000, 100_000].map((names) => ({
    what: `${names.toLocaleString('en')} names in turn, 1 process × 64 callers`,
    processes: 1,
    load: { names, callers: 64, work: 0, record: false },
  })),
  ...[1, 10, 100, 1_000, 10_000].map((callers) => ({
    what: `one hot name, 1 process × ${callers.toLocaleString('en')} callers`,
    processes: 1,
    load: { names: 'one' as const, callers, work: 0, record: false },
  })),
];

/** How ours changes with processes, names and waiters. */
export const growthCase: BenchCase = {
  name: 'growth',
  isQuick: false,
  async run(bench: Bench) {
    const rows: string[][] = [];
    const figures: Record<string, unknown> = {};
    for (const { what, processes, load } of bench.only.includes('ours') ? STEPS : []) {
      const contest: Contest = {
        name: `growth, ${what}`,
        ids: ['ours'],
        processes,
        load,
        warmUp: 300,
        duration: 500,
      };
      const rounds = (await runContest(bench, contest)).get('ours');
      figures[what] = rounds instanceof Error ? { error: rounds.message } : rounds;
      if (!rounds || rounds instanceof Error) continue;
      rows.push([
        what,
        spread(spreadOf(rounds.map(({ rate }) => rate)), perSecond),
        spread(spreadOf(rounds.map(({ requestsPerHold }) => requestsPerHold)), (value) => value.toFixed(3)),
      ]);
    }
    return {
      name: 'growth',
      title: 'Growth of ours with processes, names and waiters, no work',
      notes: [
        '8 processes want more than the cores of a small machine; the first step of the names is one hot name.',
      ],
      head: ['', 'holds/s (range)', 'requests a hold'],
      rows,
      goals: [],
      figures,
    };
  },
};
