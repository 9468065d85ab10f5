import type { LockInspection } from '../../lib/inspector/index.js';
import { alerts, dashboard, filledIn } from '../grafana/operations-files.js';
import { selectorsOf, type Series, seriesOf } from '../grafana/query-terms.js';
import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import { listens } from './support/remains.js';
import { type SampleRun, SampleRuns } from './support/sample-runs.js';

/** What the sample prints with `--json`. */
interface Printed {
  readonly urls: readonly string[];
  readonly password: string;
}

describe('sample 08, operations', () => {
  const runs = duringTests(() => SampleRuns.of('08-operations'));
  let run: SampleRun;
  let urls: readonly string[];
  let headers: Record<string, string>;

  beforeAll(async () => {
    run = runs.start(['--json']);
    const printed = await run.json<Printed>();
    urls = printed.urls;
    headers = { authorization: `Basic ${btoa(`operator:${printed.password}`)}` };
  }, 120_000);

  async function inspect(url: string | undefined, query = ''): Promise<LockInspection> {
    const answer = await fetch(`${url}/locks${query}`, { headers });
    return (await answer.json()) as LockInspection;
  }

  it('shows the locks of all instances on each of them, to operators alone', async () => {
    expect(urls).toHaveLength(3);
    const refused = await fetch(`${urls[0]}/locks`);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('Basic');
    for (const url of urls) {
      await waitFor(
        async () => {
          const { names } = await inspect(url);
          return new Set(names.map(({ owner }) => /-(\d+)-/.exec(owner)?.[1])).size === 3;
        },
        { timeout: 20_000, that: 'names of all instances' },
      );
    }
  });

  it('has a hot name, labelled holds, and holds that were lost', async () => {
    await waitFor(
      async () => (await inspect(urls[0], '?prefix=order:')).names.some(({ waiting }) => waiting > 0),
      { timeout: 10_000, that: 'a waiter' },
    );
    const { holds } = await inspect(urls[1]);
    expect(holds.map(({ label }) => label)).toContain('ShopService.reserveCart');
    await waitFor(
      async () => {
        const found = await Promise.all(urls.map(async (url) => inspect(url)));
        return found.flatMap(({ lost }) => lost).some(({ reason }) => reason === 'max-hold');
      },
      { timeout: 45_000, that: 'a report that takes too long' },
    );
  });

  it('exports every metric of the dashboard and the alerts to Prometheus', async () => {
    const wanted = [
      ...alerts.map(({ expr }) => expr),
      ...dashboard.panels.flatMap((panel) => panel.targets.map(({ expr }) => filledIn(expr))),
    ];
    const metrics = new Set(wanted.flatMap(selectorsOf).map(({ metric }) => metric));
    // Leases of 30 s are renewed after ten.
    await waitFor(
      async () => {
        const expositions = await Promise.all(
          urls.map(async (url) => (await fetch(`${url}/metrics`)).text()),
        );
        const told = new Set(expositions.flatMap(seriesOf).map((series: Series) => series.metric));
        return [...metrics].every((metric) => told.has(metric));
      },
      { timeout: 45_000, interval: 200, that: 'all metrics' },
    );
    expect(metrics.size).toBeGreaterThan(5);
  });

  it('ends on Ctrl-C while a client watches, and leaves nothing behind', async () => {
    const watching = await fetch(`${urls[0]}/locks/events`, { headers });
    expect(watching.headers.get('content-type')).toBe('text/event-stream');
    const ended = watching.text().catch(() => '');
    expect(await run.end('SIGINT')).toEqual([0, null]);
    await ended;
    expect(await listens(String(urls[0]))).toBe(false);
    expect(await runs.files()).toEqual([]);
  });
});
