import { join } from 'node:path';
import { ConsoleLogger, Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { Locked, LockService, Once, RedisLockModule } from '../../lib/index.js';
import { RedisLockInstrumentation } from '../../lib/opentelemetry/index.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { MarkdownDocument } from '../docs/markdown-document.js';
import { alerts, dashboard, filledIn, ROOT } from './operations-files.js';
import { groupingsOf, isMeant, type Selector, selectorsOf, type Series, seriesOf } from './query-terms.js';

@Injectable()
class Orders {
  @Locked('order:<0>')
  async place(_sku: string, payment?: Promise<void>): Promise<void> {
    await payment;
  }

  @Locked('order:<0>', { wait: 20 })
  async placeSoon(_sku: string): Promise<void> {}

  @Once('report:<0>', { keep: '1m' })
  async report(_day: string): Promise<void> {}

  @Locked('order:<0>', { outageTimeout: 50 })
  async placeInAnOutage(_sku: string): Promise<void> {}
}

/** An application with an endpoint for Prometheus. */
class MeasuredApplication implements AsyncDisposable {
  private constructor(
    private readonly app: TestingModule,
    private readonly url: string,
    private readonly instrumentation: RedisLockInstrumentation,
    private readonly meters: MeterProvider,
  ) {}

  static async start(connection: string): Promise<MeasuredApplication> {
    const port = await freePort();
    const prometheus = new PrometheusExporter({ host: '127.0.0.1', port, preventServerStart: true });
    await prometheus.startServer();
    const meters = new MeterProvider({ readers: [prometheus] });
    const instrumentation = new RedisLockInstrumentation();
    instrumentation.setMeterProvider(meters);
    const options = { connection, ttl: 3_000, maxWaiters: 1, advanced: { commandTimeout: 300 } };
    const app = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot(options)],
      providers: [Orders],
    })
      .setLogger(new ConsoleLogger({ logLevels: [] }))
      .compile();
    await app.init();
    return new MeasuredApplication(app, `http://127.0.0.1:${port}/metrics`, instrumentation, meters);
  }

  get orders(): Orders {
    return this.app.get(Orders);
  }

  get locks(): LockService {
    return this.app.get(LockService);
  }

  async exposition(): Promise<string> {
    return (await fetch(this.url)).text();
  }

  async has(metric: string, label: string): Promise<boolean> {
    const lines = (await this.exposition()).split('\n');
    return lines.some((line) => line.startsWith(`${metric}{`) && line.includes(label));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close();
    this.instrumentation.disable();
    await this.meters.shutdown();
  }
}

/** What an application shows to which everything has happened that is measured. */
async function showsEverything(): Promise<string> {
  await using server = await RedisServer.start();
  await using app = await MeasuredApplication.start(server.url);
  const { orders, locks } = app;
  await orders.report('monday');
  await orders.report('monday');
  let pay: () => void = () => {};
  const payment = new Promise<void>((resolve) => (pay = resolve));

  const holder = orders.place('held', payment);
  await waitFor(async () => (await locks.query('order:held')).held.length === 1);
  await expect(orders.placeSoon('held')).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  const both = Promise.allSettled([holder, orders.place('held')]);
  await expect(orders.place('held')).rejects.toMatchObject({ code: 'LOCK_QUEUE_FULL' });
  await waitFor(async () => app.has('lock_renewal_lag_count', 'lock_outcome="answered"'));

  // Kept for the length of the test; the last step ends it.
  await locks.acquire('reserved', { label: 'Reservation' });
  server.freeze();
  await expect(orders.placeInAnOutage('other')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await waitFor(async () => app.has('lock_renewal_lag_count', 'lock_outcome="unanswered"'));
  server.thaw();
  await waitFor(async () => {
    await Promise.all([locks.forceRelease('order:held'), locks.forceRelease('reserved')]);
    return (
      (await app.has('lock_lost_total', 'code_function_name=')) && app.has('lock_lost_total', 'lock_label=')
    );
  });
  pay();
  await both;
  return await app.exposition();
}

const queries = [
  ...alerts.map(({ alert, expr }) => ({ where: `the alert ${alert}`, query: expr })),
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ where: `the panel "${title}"`, query: filledIn(expr) })),
  ),
];

describe('The metrics of a running application', () => {
  let series: readonly Series[];

  beforeAll(async () => {
    series = seriesOf(await showsEverything());
  });

  /** The labels of the metrics that are selected. */
  function labelsOf(selectors: readonly Selector[]): ReadonlySet<string> {
    const metrics = new Set(selectors.map(({ metric }) => metric));
    const selected = series.filter(({ metric }) => metrics.has(metric));
    return new Set(selected.flatMap((each) => Object.keys(each.labels)));
  }

  it.each(queries)('have what $where asks for', ({ query }) => {
    const selectors = selectorsOf(query);
    expect(selectors).not.toEqual([]);
    for (const selector of selectors) {
      const meant = series.filter((each) => isMeant(selector, each));
      expect([selector, meant.length]).not.toEqual([selector, 0]);
    }
    const labels = labelsOf(selectors);
    const named = selectors.flatMap(({ matchers }) => matchers.map(({ label }) => label));
    expect([...labels]).toEqual(expect.arrayContaining([...groupingsOf(query), ...named]));
  });

  it.each(dashboard.panels)('have the labels by which the panel "$title" names its lines', ({ targets }) => {
    for (const { expr, legendFormat } of targets) {
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      expect(groupingsOf(expr)).toEqual(expect.arrayContaining(named));
    }
  });

  it('have the labels that alerts name, and each alert a section of the runbook', () => {
    const runbook = MarkdownDocument.at(join(ROOT, 'docs/operate/runbook.md'));
    for (const { expr, annotations } of alerts) {
      const named = Object.values(annotations).flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)]);
      const labels = labelsOf(selectorsOf(expr));
      expect([...labels]).toEqual(expect.arrayContaining(named.map(([, label]) => label)));
      const [address, anchor] = (annotations['runbook_url'] ?? '').split('#');
      expect(address).toBe('https://ops.example/runbook');
      expect(runbook.anchors).toContain(anchor);
    }
  });
});

describe('The dashboard', () => {
  it('shows each outcome of once() in a panel', () => {
    const once = dashboard.panels.filter(({ targets }) =>
      targets.some(({ expr }) => /lock_once_total/.test(expr)),
    );
    expect(once.map(({ targets }) => targets[0]?.legendFormat)).toEqual(['{{lock_outcome}}']);
  });

  it('has no panel over another, within the 24 columns of Grafana', () => {
    const places = dashboard.panels.map(({ gridPos }) => gridPos);
    for (const [index, a] of places.entries()) {
      expect(a.x + a.w).toBeLessThanOrEqual(24);
      for (const b of places.slice(index + 1)) {
        const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
        expect([a, b, apart]).toEqual([a, b, true]);
      }
    }
  });

  it('defines the variables that its queries name', () => {
    const named = JSON.stringify(dashboard.panels).matchAll(/\$\{?([a-z]\w*)/g);
    const defined = dashboard.templating.list.map(({ name }) => name);
    expect(defined).toEqual(expect.arrayContaining([...new Set([...named].map(([, name]) => name))]));
  });
});
