import { BullModule, getQueueToken, Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job, Queue } from 'bullmq';
import { Locked, LockService, RedisLockModule } from '../../../lib/index.js';
import { startModule } from '../support/start-module.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { CriticalSection } from './support/critical-section.js';

interface Order {
  readonly sku: string;
}

@Processor('orders', { concurrency: 5 })
class OrdersProcessor extends WorkerHost {
  constructor(private readonly section: CriticalSection) {
    super();
  }

  @Locked('stock:<0.data.sku>')
  override async process(_job: Job<Order>): Promise<number> {
    return this.section.run();
  }
}

@Processor('attempts')
class AttemptsProcessor extends WorkerHost {
  constructor(private readonly section: CriticalSection) {
    super();
  }

  @Locked('stock:<0.data.sku>', { wait: 0 })
  override async process(_job: Job<Order>): Promise<number> {
    return this.section.run();
  }
}

describe('locked queue processors', () => {
  // As BullMQ asks for.
  const server = duringTests(() => RedisServer.start({ config: { 'maxmemory-policy': 'noeviction' } }));
  const app = duringEachTest(() =>
    startModule({
      imports: [
        RedisLockModule.forRoot({ connection: server.url }),
        BullModule.forRoot({ connection: { host: server.host, port: server.port } }),
        BullModule.registerQueue({ name: 'orders' }, { name: 'attempts' }),
      ],
      providers: [OrdersProcessor, AttemptsProcessor, CriticalSection],
    }),
  );

  it('exclude each other, jobs that run at the same time', async () => {
    const queue = app.get<Queue<Order>>(getQueueToken('orders'));
    await queue.addBulk([1, 2, 3, 4, 5].map(() => ({ name: 'reserve', data: { sku: 'a' } })));
    await waitFor(async () => (await queue.getCompletedCount()) === 5, { timeout: 15_000 });
    expect(app.get(CriticalSection)).toMatchObject({ runs: 5, most: 1 });
  });

  it('fail a job whose lock is taken, so that the queue tries it again', async () => {
    const queue = app.get<Queue<Order>>(getQueueToken('attempts'));
    const lock = await app.get(LockService).acquire('stock:a');
    const options = { attempts: 1_000, backoff: { type: 'fixed', delay: 20 } };
    const { id = '' } = await queue.add('reserve', { sku: 'a' }, options);
    const job = await waitFor(async () => {
      const current: Job<Order> | undefined = await queue.getJob(id);
      return current !== undefined && current.attemptsMade > 0 ? current : undefined;
    });
    expect(job.failedReason).toContain('Lock "stock:a" was not acquired');
    expect(app.get(CriticalSection).runs).toBe(0);
    await lock.release();
    await waitFor(async () => (await queue.getCompletedCount()) === 1, { timeout: 15_000 });
    expect(app.get(CriticalSection).runs).toBe(1);
  });
});
