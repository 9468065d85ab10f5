import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { Injectable, Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { createObserveModule } from '@nestjs/observe';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { httpShop } from '../support/http-shop.js';
import { OrdersController } from '../support/orders.controller.js';
import { ORDERS, PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock } from '../support/stock.js';

/** Calls its locked method when the application starts, and outside of any request. */
@Injectable()
class Delivery implements OnModuleInit {
  constructor(private readonly stock: Stock) {}

  async onModuleInit(): Promise<void> {
    await this.deliver();
  }

  @Locked(STOCK, { wait: PATIENCE })
  async deliver(): Promise<void> {
    await this.stock.commit(await this.stock.order());
  }
}

@Module({})
class ShopModule {
  static with(observeModule: DynamicModule): DynamicModule {
    return {
      module: ShopModule,
      imports: [observeModule, RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
      controllers: [OrdersController],
      providers: [Stock, Delivery, { provide: APP_INTERCEPTOR, useClass: CommitInterceptor }],
    };
  }
}

/** A span as Observe reports it: its name if it was made by hand, else its class and its method. */
interface Span {
  readonly n?: string;
  readonly c: string;
  readonly t?: Readonly<Record<string, unknown>>;
  readonly ch?: readonly Span[];
}

interface Report {
  readonly snapshots?: readonly { readonly t: readonly Span[] }[];
}

function allOf(spans: readonly Span[]): Span[] {
  return spans.flatMap((span) => [span, ...allOf(span.ch ?? [])]);
}

/** Waits for the spans of `shops`: one for the lock of each order, and none for a method of the module. */
async function expectSpans(spans: readonly Span[], shops: number): Promise<void> {
  const tags = (): Readonly<Record<string, unknown>>[] =>
    spans.filter(({ n }) => n === `lock ${STOCK}`).map(({ t = {} }) => t);
  const end = performance.now() + 10_000;
  while (tags().length < shops * (ORDERS + 1) && performance.now() < end) await delay(50);

  const granted = tags().filter((each) => /^(?:free|local)$/.test(String(each['lock.granted.how'])));
  const refused = tags().filter((each) => each['lock.outcome'] === 'timeout');
  assert.deepEqual([granted.length, refused.length], [shops * ORDERS, shops], 'spans of locks');
  for (const each of tags()) assert.equal(typeof each['lock.wait'], 'number');
  for (const each of refused) assert.match(String(each['lock.holder']), /-\d+-/);
  const classes = [...new Set(spans.map(({ c }) => c))];
  // Observe shows each interceptor of a handler.
  const own = classes.filter((name) => /lock/i.test(name) && name !== 'LockInterceptor');
  assert.deepEqual(own, [], 'spans of the module');
}

scenario(async () => {
  // Takes what Observe reports: a test sends nothing over the network.
  const spans: Span[] = [];
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = gunzipSync(Buffer.concat(chunks)).toString();
      const { snapshots = [] } = JSON.parse(text) as Report;
      spans.push(...snapshots.flatMap(({ t }) => allOf(t)));
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;

  const start = () => {
    const { ObserveModule, ObserveInstrument } = createObserveModule();
    const observeModule = ObserveModule.forRoot({
      appKey: 'key',
      appSecret: 'secret',
      serviceId: 'shop',
      endpoint: `http://127.0.0.1:${port}`,
      flushInterval: 1_000,
    });
    return NestFactory.create(ShopModule.with(observeModule), {
      instrument: ObserveInstrument,
      logger: ['warn', 'error', 'fatal'],
    });
  };
  const [first, second] = [await start(), await start()];
  const shops = [await httpShop(first), await httpShop(second)];
  for (const shop of shops) await tryShop(shop);
  for (const app of [first, second]) {
    const before = app.get(Stock).sold;
    await Promise.all(Array.from({ length: 10 }, () => app.get(Delivery).deliver()));
    assert.equal(app.get(Stock).sold - before, 10, 'deliveries outside of a request');
  }
  await expectSpans(spans, 2);
  await first.close();
  await second.close();
  collector.closeAllConnections();
  collector.close();
});
