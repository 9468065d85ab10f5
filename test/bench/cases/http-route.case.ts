import { join } from 'node:path';
import autocannon, { type Result } from 'autocannon';
import { startWorker } from '../../support/worker.js';
import type { BenchCase } from '../bench.js';
import { addressOf } from '../contestant.js';
import type { HttpCalls } from '../http/http.process.js';
import { perSecond, spread } from '../report/format.js';
import { spreadOf } from '../statistics/spread.js';

const ROUTES = ['none', 'ours', 'redlock'] as const;
const TEXT: Readonly<Record<(typeof ROUTES)[number], string>> = {
  none: 'no lock',
  ours: "@Locked('order:<0>')",
  redlock: "redlock's using()",
};
const CONNECTIONS = 50;
/** Seconds, as autocannon takes them. */
const DURATION = 2;

/** An empty Express route, locked by the id of the order; each request has an id of its own. */
export const httpRouteCase: BenchCase = {
  name: 'http',
  isQuick: false,
  async run(bench) {
    await using worker = await startWorker<HttpCalls>(join(__dirname, '../http/http.process.ts'));
    const port = await worker.call('listen', addressOf(bench.server));
    const results: Record<(typeof ROUTES)[number], Result[]> = { none: [], ours: [], redlock: [] };
    // What comes first would pay for the compilation of all.
    for (const route of ROUTES) await request(port, route, 1);
    for (let round = 1; round <= bench.rounds; round++) {
      bench.say(`http: round ${round} of ${bench.rounds}`);
      for (const route of ROUTES) results[route].push(await request(port, route, DURATION));
    }
    const base = spreadOf(results.none.map(({ requests }) => requests.average))?.median;
    return {
      name: 'http',
      title: `HTTP: an empty Nest route on Express, ${CONNECTIONS} connections, each request another id`,
      notes: ['The load comes from another process of the same machine.'],
      head: ['', 'requests/s (range)', 'of no lock', 'p50 / p99, ms', 'not 200'],
      rows: ROUTES.map((route) => {
        const rate = spreadOf(results[route].map(({ requests }) => requests.average));
        return [
          TEXT[route],
          spread(rate, perSecond),
          rate && base ? `${((100 * rate.median) / base).toFixed(0)} %` : '–',
          (['p50', 'p99'] as const)
            .map((which) => spreadOf(results[route].map(({ latency }) => latency[which]))?.median ?? '–')
            .join(' / '),
          String(results[route].reduce((sum, result) => sum + result.non2xx + result.errors, 0)),
        ];
      }),
      goals: [],
      figures: Object.fromEntries(
        ROUTES.map((route) => [
          route,
          results[route].map(({ requests, latency, non2xx, errors }) => ({
            rate: requests.average,
            latency: { p50: latency.p50, p99: latency.p99 },
            failed: non2xx + errors,
          })),
        ]),
      ),
    };
  },
};

let id = 0;

async function request(port: number, route: string, duration: number): Promise<Result> {
  return autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    duration,
    requests: [{ setupRequest: (sent) => ({ ...sent, path: `/${route}/${++id}` }) }],
  });
}
