import assert from 'node:assert/strict';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { shopAt } from '../support/http-shop.js';
import { OrdersController } from '../support/orders.controller.js';
import { scenario, tryShop } from '../support/scenario.js';
import { Stock, type Order } from '../support/stock.js';

const REDIS_URL = process.env['REDIS_URL'] ?? '';
const WORKERS = 3;
const logger: ('warn' | 'error' | 'fatal')[] = ['warn', 'error', 'fatal'];

/** A stock that all workers share. */
@Injectable()
class SharedStock implements Pick<Stock, 'order' | 'commit'>, OnApplicationShutdown {
  private readonly redis = new Redis(REDIS_URL);

  async order(): Promise<Order> {
    const seen = Number(await this.redis.get('sold'));
    await delay(2);
    return { sold: seen + 1 };
  }

  async commit({ sold }: Order): Promise<string> {
    await delay(5 + Math.random() * 15);
    await this.redis.multi().set('sold', sold).hincrby('served', String(process.pid), 1).exec();
    return 'committed';
  }

  async onApplicationShutdown(): Promise<void> {
    await this.redis.quit();
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ connection: REDIS_URL })],
  controllers: [OrdersController],
  providers: [
    { provide: Stock, useClass: SharedStock },
    { provide: APP_INTERCEPTOR, useClass: CommitInterceptor },
  ],
})
class ShopModule {}

@Module({ imports: [RedisLockModule.forRoot({ connection: REDIS_URL })] })
class PrimaryModule {}

async function serve(): Promise<void> {
  const app = await NestFactory.create(ShopModule, { logger });
  // All workers share one port, whatever its number.
  await app.listen(0, '127.0.0.1');
  process.once('message', () => {
    void app.close().then(() => process.disconnect());
  });
}

async function run(): Promise<void> {
  const workers = Array.from({ length: WORKERS }, () => cluster.fork());
  const exits = workers.map((worker) => once(worker, 'exit'));
  const [address] = await Promise.all(workers.map(listening));
  const app = await NestFactory.createApplicationContext(PrimaryModule, { logger });
  const redis = new Redis(REDIS_URL);
  const shop = shopAt(`http://127.0.0.1:${address?.port}`, {
    locks: app.get(LockService),
    sold: async () => Number(await redis.get('sold')),
  });
  await tryShop(shop);
  assert.equal(await redis.hlen('served'), WORKERS, 'workers that served orders');
  for (const worker of workers) worker.send('close');
  for (const exit of exits) assert.deepEqual(await exit, [0, null], 'exit of a worker');
  await redis.quit();
  await app.close();
}

async function listening(worker: Worker): Promise<AddressInfo> {
  const [address] = (await once(worker, 'listening')) as [AddressInfo];
  return address;
}

if (cluster.isPrimary) scenario(run);
else void serve();
