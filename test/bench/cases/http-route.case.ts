import { join } from 'node:path';
import autocannon from 'autocannon';
import { startWorker, type Worker } from '../../support/worker.js';
import type { BenchCase, Goal } from '../bench.js';
import { addressOf } from '../contestant.js';
import type { OverheadCalls, Platform } from '../http/overhead.process.js';
import { perSecond, spread } from '../report/format.js';
import { spreadOf } from '../statistics/spread.js';

const PLATFORMS: readonly Platform[] = ['Express', 'Fastify'];
const ROUTES = ['plain', 'decorated', 'by-hand', 'redlock'] as const;
type Route = (typeof ROUTES)[number];

const TEXT: Readonly<Record<Route, string>> = {
  plain: 'no lock',
  decorated: "@Locked('order:<0>')",
  'by-hand': 'acquire and release by hand',
  redlock: "redlock's using() by hand",
};
const CONNECTIONS = 50;
const REQUESTS = 4_000;
/** Short passes in turn: a machine that drifts meets all alike. */
const PASSES_A_ROUND = 4;
/** How much less CPU the same two calls by hand may take: that is all that the decorator decides. */
const GOAL = 0.8;

/** One pass of one route. */
interface Pass {
  /** Microseconds of CPU time that the server took for a request. */
  readonly cpu: number;
  readonly rate: number;
  readonly failed: number;
}

/** An empty route on Express and on Fastify, locked by the id of the order; each request has an id of its own. */
export const httpRouteCase: BenchCase = {
  name: 'http',
  isQuick: false,
  async run(bench) {
    const found = new Map<Platform, Record<Route, Pass[]>>();
    for (const platform of PLATFORMS) {
      await using worker = await startWorker<OverheadCalls>(join(__dirname, '../http/overhead.process.ts'));
      const port = await worker.call('listen', addressOf(bench.server), platform);
      const passes: Record<Route, Pass[]> = { plain: [], decorated: [], 'by-hand': [], redlock: [] };
      // Twice, or what comes first would pay for the compilation of all.
      for (let time = 0; time < 2; time++) for (const route of ROUTES) await pass(worker, port, route);
      for (let turn = 0; turn < bench.rounds * PASSES_A_ROUND; turn++) {
        bench.say(`http: ${platform}, pass ${turn + 1} of ${bench.rounds * PASSES_A_ROUND}`);
        // Back and forth, so that none always comes right after the same one.
        for (const route of turn % 2 === 0 ? ROUTES : ROUTES.toReversed())
          passes[route].push(await pass(worker, port, route));
      }
      found.set(platform, passes);
    }
    return {
      name: 'http',
      title: `HTTP: an empty Nest route, ${CONNECTIONS} connections, each request another id`,
      notes: [
        'The load comes from another process of the same machine, which moves the rate far more than the CPU time.',
        `${bench.rounds * PASSES_A_ROUND} passes in turn with ${REQUESTS} requests each; shares are of one pass.`,
      ],
      head: [
        '',
        'µs of CPU (range)',
        'share of no lock, by CPU',
        'requests/s (range)',
        'share by rate',
        'not 200',
      ],
      rows: [...found].flatMap(([platform, passes]) =>
        ROUTES.map((route) => [
          `${platform}: ${TEXT[route]}`,
          spread(spreadOf(passes[route].map(({ cpu }) => cpu)), (value) => value.toFixed(0)),
          share(byCpu(passes, route, 'plain')),
          spread(spreadOf(passes[route].map(({ rate }) => rate)), perSecond),
          share(byRate(passes, route, 'plain')),
          String(passes[route].reduce((sum, { failed }) => sum + failed, 0)),
        ]),
      ),
      goals: [...found].flatMap(([platform, passes]) => goalsOf(platform, passes)),
      figures: Object.fromEntries(found),
    };
  },
};

function goalsOf(platform: Platform, passes: Record<Route, Pass[]>): readonly Goal[] {
  const ofRedlock = byCpu(passes, 'decorated', 'redlock');
  const ofCalls = byCpu(passes, 'decorated', 'by-hand');
  return [
    {
      text: `${platform}: @Locked takes no more CPU than redlock's using() by hand`,
      measured: `${share(ofRedlock)} (redlock's by ours)`,
      met: ofRedlock >= 1,
    },
    {
      text: `${platform}: acquire and release by hand take at least ${share(GOAL)} of the CPU that @Locked takes`,
      measured: share(ofCalls),
      met: ofCalls >= GOAL,
    },
  ];
}

/** The median over all passes of how much less CPU time the other route took; more than 1 if `route` is the cheaper one. */
function byCpu(passes: Record<Route, Pass[]>, route: Route, other: Route): number {
  return medianOf(passes[route].map(({ cpu }, turn) => (passes[other][turn]?.cpu ?? Number.NaN) / cpu));
}

function byRate(passes: Record<Route, Pass[]>, route: Route, other: Route): number {
  return medianOf(passes[route].map(({ rate }, turn) => rate / (passes[other][turn]?.rate ?? Number.NaN)));
}

function medianOf(values: readonly number[]): number {
  return spreadOf(values)?.median ?? Number.NaN;
}

function share(value: number): string {
  return value.toFixed(2);
}

let id = 0;

async function pass(worker: Worker<OverheadCalls>, port: number, route: Route): Promise<Pass> {
  const before = await worker.call('cpu');
  const startedAt = performance.now();
  let answeredAt = startedAt;
  const { non2xx, errors } = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    amount: REQUESTS,
    requests: [{ setupRequest: (sent) => ({ ...sent, path: `/${route}/${++id}` }) }],
    // By its last answer, for autocannon itself looks once a second whether it has all.
    setupClient: (client) => client.on('response', () => (answeredAt = performance.now())),
  });
  const seconds = (answeredAt - startedAt) / 1_000;
  const cpu = (1_000 * ((await worker.call('cpu')) - before)) / REQUESTS;
  return { cpu, rate: REQUESTS / seconds, failed: non2xx + errors };
}
