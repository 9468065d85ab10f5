import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { isLockError, Locked, LockService, RedisLockModule } from 'nest-redis-lock';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';

const THREADS = 3;
const logger: ('warn' | 'error' | 'fatal')[] = ['warn', 'error', 'fatal'];

@Injectable()
class Orders {
  /** The only memory that all threads share. */
  private readonly sold = new Int32Array(workerData as SharedArrayBuffer);

  @Locked(STOCK, { wait: PATIENCE })
  async place(): Promise<string> {
    const seen = Atomics.load(this.sold, 0);
    await delay(2 + 5 + Math.random() * 15);
    Atomics.store(this.sold, 0, seen + 1);
    return 'committed';
  }

  @Locked(STOCK, { wait: 0 })
  async placeImpatiently(): Promise<void> {}
}

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  providers: [Orders],
})
class ThreadModule {}

@Module({ imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })] })
class MainModule {}

/** A call of a thread's {@link Orders}; `id` names it in the reply. */
interface Call {
  readonly id: number;
  readonly method: 'place' | 'placeImpatiently' | 'close';
}

interface Reply {
  readonly id: number;
  readonly result: unknown;
}

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const app = await NestFactory.createApplicationContext(ThreadModule, { logger });
  const orders = app.get(Orders);
  const answer = async ({ id, method }: Call): Promise<void> => {
    if (method === 'close') {
      await app.close();
      port.close();
      return;
    }
    const result = await orders[method]().catch((error: unknown) => isLockError(error) && error.code);
    port.postMessage({ id, result } satisfies Reply);
  };
  port.on('message', (call: Call) => void answer(call));
}

/** Calls threads in turn. */
class Threads {
  private readonly workers: readonly Worker[];
  private readonly replies = new Map<number, (result: unknown) => void>();
  private calls = 0;

  constructor(memory: SharedArrayBuffer) {
    this.workers = Array.from({ length: THREADS }, () => new Worker(__filename, { workerData: memory }));
    for (const worker of this.workers)
      worker.on('message', ({ id, result }: Reply) => this.replies.get(id)?.(result));
  }

  call(method: 'place' | 'placeImpatiently'): Promise<unknown> {
    const id = (this.calls += 1);
    this.workers[id % THREADS]?.postMessage({ id, method } satisfies Call);
    return new Promise((resolve) => this.replies.set(id, resolve));
  }

  async close(): Promise<void> {
    for (const worker of this.workers) {
      const exited = once(worker, 'exit');
      worker.postMessage({ id: 0, method: 'close' } satisfies Call, []);
      assert.deepEqual(await exited, [0], 'exit of a thread');
    }
  }
}

if (parentPort !== null && !isMainThread) void serve(parentPort);
else
  scenario(async () => {
    const memory = new SharedArrayBuffer(4);
    const threads = new Threads(memory);
    const app = await NestFactory.createApplicationContext(MainModule, { logger });
    await tryShop({
      locks: app.get(LockService),
      place: () => threads.call('place'),
      reply: 'committed',
      placeImpatiently: () => threads.call('placeImpatiently'),
      refusal: 'LOCK_TIMEOUT',
      sold: () => Atomics.load(new Int32Array(memory), 0),
    });
    await threads.close();
    await app.close();
  });
