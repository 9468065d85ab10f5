import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Param } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { context, metrics, trace, type Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { version } from '../../package.json';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { RedisLockInstrumentation } from '../../lib/opentelemetry/index.js';
import { duringTests } from '../support/during-tests.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication } from './support/http-application.js';

const spans = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });

@Controller('orders')
class OrdersController {
  @Get(':id')
  @Locked('order:<0>')
  async get(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Locked(['order:<0>', 'orders'], { wait: 0, onTimeout: 'skip' })
  async check(id: string): Promise<string | undefined> {
    return id;
  }
}

describe('OpenTelemetry', () => {
  const server = duringTests(() => RedisServer.start());
  const app = duringTests(() =>
    HttpApplication.start(new ExpressAdapter(), {
      imports: [
        RedisLockModule.forRoot({ connection: server.url }),
        RedisLockModule.forRoot({ connection: server.url, name: 'others' }),
      ],
      controllers: [OrdersController],
    }),
  );
  let locks: LockService;
  let others: LockService;
  let instrumentation: RedisLockInstrumentation;
  let prometheus: PrometheusExporter;
  let meterProvider: MeterProvider;
  let scrapeUrl: string;

  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    locks = app.locks;
    others = app.nest.get<LockService>('nest-redis-lock:LockService:others');
  });
  afterAll(() => context.disable());

  beforeEach(async () => {
    spans.reset();
    const port = await freePort();
    prometheus = new PrometheusExporter({ host: '127.0.0.1', port, preventServerStart: true });
    await prometheus.startServer();
    scrapeUrl = `http://127.0.0.1:${port}/metrics`;
    meterProvider = new MeterProvider({ readers: [prometheus] });
    instrumentation = new RedisLockInstrumentation();
    instrumentation.setTracerProvider(tracerProvider);
    instrumentation.setMeterProvider(meterProvider);
  });
  afterEach(async () => {
    instrumentation.disable();
    await meterProvider.shutdown();
  });

  /** The samples of one metric, by its labels but for those of the scope. */
  async function samples(metric: string): Promise<Record<string, number>> {
    const text = await (await fetch(scrapeUrl)).text();
    const found = [...text.matchAll(/^(\w+)\{(.*)\} (\S+)/gm)].filter(([, name]) => name === metric);
    return Object.fromEntries(
      found.map(([, , labels = '', value]) => [
        labels
          .split(/,(?=\w+=)/)
          .filter((label) => !label.startsWith('otel_scope'))
          .join(','),
        Number(value),
      ]),
    );
  }

  function finished(name: string): readonly ReadableSpan[] {
    return spans.getFinishedSpans().filter((span) => span.name === name);
  }

  /** Runs `work` as a caller with a span of its own. */
  async function inSpan(work: () => Promise<unknown>): Promise<Span> {
    const span = tracerProvider.getTracer('test').startSpan('caller');
    await context.with(trace.setSpan(context.active(), span), work);
    span.end();
    return span;
  }

  it("counts calls that onTimeout: 'skip' skips", async () => {
    const orders = app.nest.get(OrdersController);
    const lock = await locks.acquire('order:7');
    expect(await orders.check('7')).toBeUndefined();
    await lock.release();
    expect(await orders.check('7')).toBe('7');
    expect(await samples('lock_skipped_total')).toEqual({
      'code_function_name="OrdersController.check",lock_key_template="order:<0>, orders"': 1,
    });
  });

  it('counts runs and results of once(), and a shared result as no failure', async () => {
    let end: (result: number) => void = () => undefined;
    const run = jest.fn(() => new Promise<number>((resolve) => (end = resolve)));
    const first = locks.once('once', { keep: '1m', label: 'Runner' }, run);
    await waitFor(() => run.mock.calls.length === 1);
    const second = locks.once('once', { keep: '1m' }, run);
    await waitFor(async () => (await samples('lock_queue_length'))[''] === 1);
    end(1);
    await Promise.all([first, second]);
    await locks.once('once', { keep: '1m' }, run);

    expect(await samples('lock_once_total')).toEqual({
      'lock_label="Runner",lock_outcome="ran"': 1,
      'lock_outcome="shared"': 1,
      'lock_outcome="kept"': 1,
    });
    expect(await samples('lock_queue_length')).toEqual({ 'lock_label="Runner"': 0, '': 0 });
    expect(await samples('lock_wait_duration_count')).toMatchObject({ 'lock_outcome="shared"': 1 });
    expect(
      finished('lock.acquire').map(({ attributes, status }) => [attributes['lock.outcome'], status.code]),
    ).toEqual([
      ['granted', 0],
      ['shared', 0],
    ]);
  });

  it('has a span for the wait and one for the hold, below the caller', async () => {
    const caller = await inSpan(() => locks.using('plain', async () => {}));

    const [acquire] = finished('lock.acquire');
    const [hold] = finished('lock.hold');
    const parent = caller.spanContext().spanId;
    expect(acquire?.parentSpanContext?.spanId).toBe(parent);
    expect(hold?.parentSpanContext?.spanId).toBe(parent);
    expect(acquire?.attributes).toEqual({ 'lock.outcome': 'granted', 'lock.granted.how': 'free' });
    expect(hold?.attributes).toEqual({ 'lock.fencing_token': expect.any(Number) });
    expect(acquire?.instrumentationScope).toMatchObject({ name: 'nest-redis-lock', version });
  });

  it('keeps the caller as the parent if another caller hands the lock on', async () => {
    const held = await locks.acquire('passed');
    const waiting = inSpan(async () => (await locks.acquire('passed')).release());
    await inSpan(() => held.release());
    const caller = await waiting;

    const last = finished('lock.acquire').at(-1);
    expect(last?.parentSpanContext?.spanId).toBe(caller.spanContext().spanId);
    expect(last?.attributes['lock.granted.how']).toBe('local');
  });

  it('has attributes for method and template, and none for the lock name', async () => {
    expect((await app.get('/orders/forty-two')).status).toBe(200);

    const attributes = { 'code.function.name': 'OrdersController.get', 'lock.key.template': 'order:<0>' };
    expect(finished('lock.acquire')[0]?.attributes).toMatchObject(attributes);
    await waitFor(() => finished('lock.hold').length === 1);
    expect(finished('lock.hold')[0]?.attributes).toMatchObject(attributes);
    expect(JSON.stringify(spans.getFinishedSpans().map((span) => span.attributes))).not.toContain(
      'forty-two',
    );
    expect(await (await fetch(scrapeUrl)).text()).not.toContain('forty-two');
  });

  it('adds lock names on request', async () => {
    instrumentation.setConfig({ lockNames: true });
    await locks.using('order:42', async () => {});

    expect(finished('lock.acquire')[0]?.attributes['lock.name']).toBe('order:42');
    expect(await samples('lock_hold_duration_count')).toEqual({
      'lock_name="order:42",lock_outcome="released"': 1,
    });
  });

  it('marks failures as errors, but not contention', async () => {
    const held = await others.acquire('taken');
    await locks.tryAcquire('taken');
    await expect(locks.acquire('taken', { signal: AbortSignal.timeout(20) })).rejects.toThrow();
    await held.release();

    const [, timeout, aborted] = finished('lock.acquire');
    expect(timeout?.status.code).toBe(0);
    expect(timeout?.attributes).toMatchObject({ 'lock.outcome': 'timeout' });
    expect(aborted?.status.code).toBe(2);
    expect(aborted?.attributes).toMatchObject({ 'lock.outcome': 'failed', 'error.type': 'TimeoutError' });
  });

  it('ends the span of a hold that was lost with the reason', async () => {
    const lock = await locks.acquire('lost');
    await others.forceRelease('lost');
    await waitFor(() => lock.signal.aborted);
    await lock.release();

    expect(finished('lock.hold')).toHaveLength(1);
    expect(finished('lock.hold')[0]).toMatchObject({
      status: { code: 2 },
      attributes: { 'lock.lost.reason': 'forced', 'error.type': 'LOCK_LOST' },
    });
    expect(await samples('lock_lost_total')).toEqual({ 'lock_lost_reason="forced"': 1 });
  });

  it('is scraped by Prometheus: waits and holds in seconds, and the callers that wait', async () => {
    await app.get('/orders/7');
    const held = await locks.acquire('scraped');
    const waits = [locks.acquire('scraped'), locks.acquire('scraped')];

    expect(await samples('lock_queue_length')).toMatchObject({ '': 2 });
    await held.release();
    for (const wait of waits) await (await wait).release();

    expect(await samples('lock_queue_length')).toMatchObject({ '': 0 });
    expect(await samples('lock_wait_duration_count')).toEqual({
      'code_function_name="OrdersController.get",lock_key_template="order:<0>",lock_outcome="granted",lock_granted_how="free"': 1,
      'lock_outcome="granted",lock_granted_how="free"': 1,
      'lock_outcome="granted",lock_granted_how="local"': 2,
    });
    const seconds = await samples('lock_hold_duration_sum');
    expect(seconds['lock_outcome="released"']).toBeGreaterThan(0);
    expect(seconds['lock_outcome="released"']).toBeLessThan(60);
  });

  it('reports the number of holds of the process, and the age of the oldest', async () => {
    const first = await locks.acquire('first', { label: 'Import' });
    // A timer may ring a little early.
    await sleep(40);
    const second = await locks.acquire(['second', 'third'], { label: 'Import' });
    const unnamed = await locks.acquire('unnamed');

    expect(await samples('locks_held')).toEqual({ 'lock_label="Import"': 3, '': 1 });
    const ages = await samples('locks_oldest_hold_age');
    expect(ages['lock_label="Import"']).toBeGreaterThanOrEqual(0.03);
    expect(ages['lock_label="Import"']).toBeGreaterThan(ages[''] ?? Infinity);

    await first.release();
    await others.forceRelease('unnamed');
    await waitFor(() => unnamed.signal.aborted);
    expect(await samples('locks_held')).toEqual({ 'lock_label="Import"': 2, '': 0 });
    await second.release();
    await unnamed.release();
    expect(await samples('locks_held')).toEqual({ 'lock_label="Import"': 0, '': 0 });
    expect(await samples('locks_oldest_hold_age')).toEqual({ 'lock_label="Import"': 0, '': 0 });
  });

  it('keeps the first 50 labels of LockService callers, and counts others together', async () => {
    for (let i = 0; i < 52; i++) await locks.using('labelled', { label: `order-${i}` }, async () => {});
    await locks.using('labelled', { label: 'order-0' }, async () => {});

    const holds = await samples('lock_hold_duration_count');
    expect(Object.keys(holds)).toHaveLength(51);
    expect(holds).toMatchObject({
      'lock_label="order-0",lock_outcome="released"': 2,
      'lock_label="order-49",lock_outcome="released"': 1,
      'lock_label="_OTHER",lock_outcome="released"': 2,
    });
    expect(finished('lock.hold').at(-2)?.attributes['lock.label']).toBe('order-51');
  });

  it('measures how late renewals are', async () => {
    const answered = async (metric: string): Promise<number> =>
      (await samples(metric))['lock_outcome="answered"'] ?? 0;
    await steadily(
      100,
      async (round) => {
        const [count, sum] = [
          await answered('lock_renewal_lag_count'),
          await answered('lock_renewal_lag_sum'),
        ];
        const lock = await locks.acquire(`renewed:${round}`, { ttl: 600 });
        await waitFor(async () => !lock.held || (await answered('lock_renewal_lag_count')) > count);
        expect(lock.held).toBe(true);
        await lock.release();

        expect((await answered('lock_renewal_lag_sum')) - sum).toBeLessThan(0.6);
      },
      () => server.ping(),
    );
  });

  it('records nothing when it is disabled, and counts no waiter', async () => {
    const held = await locks.acquire('disabled');
    const wait = locks.acquire('disabled');
    instrumentation.disable();
    spans.reset();
    await held.release();
    await (await wait).release();

    expect(await samples('lock_queue_length')).toEqual({ '': 0 });
    expect(await samples('locks_held')).toEqual({ '': 0 });
    expect(spans.getFinishedSpans()).toEqual([]);
  });

  it('can be enabled twice and measures once', async () => {
    instrumentation.enable();
    await locks.using('twice', async () => {});

    expect(finished('lock.acquire')).toHaveLength(1);
  });

  it('is registered like any other instrumentation, with the providers given there', async () => {
    instrumentation.disable();
    const disable = registerInstrumentations({
      instrumentations: [new RedisLockInstrumentation()],
      tracerProvider,
      meterProvider,
    });
    await locks.using('registered', async () => {});
    disable();
    await locks.using('registered', async () => {});

    expect(finished('lock.acquire')).toHaveLength(1);
    expect(await samples('lock_wait_duration_count')).toEqual({
      'lock_outcome="granted",lock_granted_how="free"': 1,
    });
  });

  it('uses the global providers, also if they are set later', async () => {
    instrumentation.disable();
    const other = new RedisLockInstrumentation();
    await locks.using('global', async () => {});
    trace.setGlobalTracerProvider(tracerProvider);
    metrics.setGlobalMeterProvider(meterProvider);
    await locks.using('global', async () => {});
    other.disable();
    trace.disable();
    metrics.disable();

    expect(finished('lock.acquire')).toHaveLength(1);
    expect(Object.values(await samples('lock_wait_duration_count'))).toEqual([1]);
  });

  it('stays off on request', async () => {
    instrumentation.disable();
    const off = new RedisLockInstrumentation({ enabled: false });
    off.setTracerProvider(tracerProvider);
    await locks.using('off', async () => {});

    expect(off.getConfig()).toEqual({ enabled: false });
    expect(spans.getFinishedSpans()).toEqual([]);
  });
});
