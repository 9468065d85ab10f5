import { join } from 'node:path';
import autocannon from 'autocannon';
import { startWorker, type Worker } from '../../support/worker.js';
import type { BenchCase, Goal } from '../bench.js';
import { addressOf } from '../contestant.js';
import type { OverheadCalls } from '../http/overhead.process.js';
import { spread } from '../report/format.js';
import { middleOf, spreadOf } from '../statistics/spread.js';

const CONNECTIONS = 10;
const REQUESTS = 500;
/** Many short passes in turn: a machine that drifts, or other work on it, meets all alike. */
const PASSES_A_ROUND = 48;
/** Requests of each route before the first pass. */
const WARM_UP = 4_000;
/** A locked route may take that much more CPU than the same written by hand. */
const ALLOWED = 1.05;
/** Microseconds of CPU that a route without a lock may take more than without the module. */
const ALLOWED_WITHOUT_LOCK = 20;

const ROUTES = [
  'absent',
  'absentAgain',
  'present',
  'byHand',
  'byHandAgain',
  'intercepted',
  'decorated',
] as const;
type Route = (typeof ROUTES)[number];

const TEXT: Readonly<Record<Route, string>> = {
  absent: 'plain route, module absent',
  absentAgain: 'the same once more (noise)',
  present: 'plain route, module present',
  byHand: 'acquire and release by hand',
  byHandAgain: 'the same once more (noise)',
  intercepted: 'by hand below an empty interceptor',
  decorated: "@Locked('order:<0>')",
};

/** Which route each is compared with. */
const BASE: Readonly<Record<Route, Route>> = {
  absent: 'absent',
  absentAgain: 'absent',
  present: 'absent',
  byHand: 'byHand',
  byHandAgain: 'byHand',
  intercepted: 'byHand',
  decorated: 'byHand',
};

interface Target {
  readonly worker: Worker<OverheadCalls>;
  readonly port: number;
  readonly path: string;
}

/** What the decorator and the mere presence of the module cost an HTTP server, in CPU time of its process. */
export const overheadCase: BenchCase = {
  name: 'overhead',
  isQuick: false,
  async run(bench) {
    await using absent = await startWorker<OverheadCalls>(PROCESS);
    await using absentAgain = await startWorker<OverheadCalls>(PROCESS);
    await using present = await startWorker<OverheadCalls>(PROCESS);
    const ports = {
      absent: await absent.call('listen', undefined),
      absentAgain: await absentAgain.call('listen', undefined),
      present: await present.call('listen', addressOf(bench.server)),
    };
    const locked = { worker: present, port: ports.present };
    const targets: Record<Route, Target> = {
      absent: { worker: absent, port: ports.absent, path: 'plain' },
      absentAgain: { worker: absentAgain, port: ports.absentAgain, path: 'plain' },
      present: { ...locked, path: 'plain' },
      byHand: { ...locked, path: 'by-hand' },
      byHandAgain: { ...locked, path: 'by-hand' },
      intercepted: { ...locked, path: 'intercepted' },
      decorated: { ...locked, path: 'decorated' },
    };
    // Twice, or what comes first would pay for the compilation of all.
    for (let time = 0; time < 2; time++) for (const route of ROUTES) await cpuOf(targets[route], WARM_UP);
    const used = await measure(targets, bench.rounds * PASSES_A_ROUND, (line) => bench.say(line));
    return {
      name: 'overhead',
      title: `CPU time of the server for a request to an empty Nest route on Express, ${CONNECTIONS} connections`,
      notes: [
        `${bench.rounds * PASSES_A_ROUND} passes in turn with ${REQUESTS} requests each; ratios are of one pass.`,
      ],
      head: ['', 'µs a request (middle half)', 'ratio (middle half)'],
      rows: ROUTES.map((route) => [
        TEXT[route],
        spread(middleOf(used[route].map(perRequest)), (value) => value.toFixed(0)),
        BASE[route] === route ? '1' : spread(middleOf(ratios(used, route)), asRatio),
      ]),
      goals: [decoratorGoal(used), presenceGoal(used)],
      figures: used,
    };
  },
};

const PROCESS = join(__dirname, '../http/overhead.process.ts');

type Used = Record<Route, number[]>;

async function measure(
  targets: Record<Route, Target>,
  passes: number,
  say: (line: string) => void,
): Promise<Used> {
  const used: Used = {
    absent: [],
    absentAgain: [],
    present: [],
    byHand: [],
    byHandAgain: [],
    intercepted: [],
    decorated: [],
  };
  for (let pass = 0; pass < passes; pass++) {
    if (pass % PASSES_A_ROUND === 0) say(`overhead: pass ${pass + 1} of ${passes}`);
    // Back and forth, so that none always comes right after the same one.
    for (const route of pass % 2 === 0 ? ROUTES : ROUTES.toReversed()) {
      used[route].push(await cpuOf(targets[route]));
    }
  }
  return used;
}

let id = 0;

/** Milliseconds of CPU that the server took for all requests. */
async function cpuOf({ worker, port, path }: Target, amount = REQUESTS): Promise<number> {
  const before = await worker.call('cpu');
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    amount,
    // Or each pass would idle for the rest of a second.
    sampleInt: 20,
    requests: [{ setupRequest: (sent) => ({ ...sent, path: `/${path}/${++id}` }) }],
  });
  if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx + result.errors} requests failed.`);
  return (await worker.call('cpu')) - before;
}

function ratios(used: Used, route: Route): number[] {
  return used[route].map((cpu, pass) => cpu / (used[BASE[route]][pass] ?? Number.NaN));
}

function decoratorGoal(used: Used): Goal {
  const ratio = middleOf(ratios(used, 'decorated'));
  return {
    text: 'a locked route takes at most 5 % more CPU than acquire and release by hand',
    measured: spread(ratio, asRatio),
    met: (ratio?.median ?? Number.NaN) <= ALLOWED,
  };
}

/** The noise beside it is the difference between two applications without the module. */
function presenceGoal(used: Used): Goal {
  const [more, noise] = [differenceOf(used, 'present'), differenceOf(used, 'absentAgain')];
  return {
    text: `a route without a lock takes at most ${ALLOWED_WITHOUT_LOCK} µs more CPU than without the module`,
    measured: `${asMicroseconds(more)} µs; between two without the module ${asMicroseconds(noise)} µs`,
    met: more <= ALLOWED_WITHOUT_LOCK,
  };
}

/**
 * Microseconds that a request takes more than without the module: the median of the differences within each pass, which
 * have the same load on the machine.
 */
function differenceOf(used: Used, route: Route): number {
  const differences = used[route].map((cpu, pass) => perRequest(cpu - (used.absent[pass] ?? Number.NaN)));
  return spreadOf(differences)?.median ?? Number.NaN;
}

/** Microseconds of each request. */
function perRequest(milliseconds: number): number {
  return (1_000 * milliseconds) / REQUESTS;
}

function asMicroseconds(value: number): string {
  return value.toFixed(1);
}

function asRatio(value: number): string {
  return value.toFixed(3);
}
