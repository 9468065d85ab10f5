/** What belongs around a processor of the queue `invoices`: eight jobs of one customer, and how many have ended how. */
export function queueApplication(processor: string): string {
  return `${processor}
import { BullModule, InjectQueue } from '@nestjs/bullmq';
import { Controller, Get, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Queue } from 'bullmq';
import { RedisLockModule } from 'nest-redis-lock';

@Controller()
class CountsController implements OnApplicationBootstrap {
  constructor(@InjectQueue('invoices') private readonly queue: Queue) {}

  async onApplicationBootstrap(): Promise<void> {
    const opts = { attempts: 3, backoff: { type: 'fixed', delay: 100 } };
    await this.queue.addBulk(
      Array.from({ length: 8 }, () => ({ name: 'invoice', data: { customer: 'one' }, opts })),
    );
  }

  @Get()
  counts(): Promise<unknown> {
    return this.queue.getJobCounts('completed', 'failed');
  }
}

const redis = new URL(process.env['REDIS_URL'] ?? '');

@Module({
  imports: [
    RedisLockModule.forRoot({ connection: redis.href }),
    BullModule.forRoot({ connection: { host: redis.hostname, port: Number(redis.port) } }),
    BullModule.registerQueue({ name: 'invoices' }),
  ],
  controllers: [CountsController],
  providers: [InvoicesProcessor],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(Number(process.env['PORT']), '127.0.0.1');
}

void main();
`;
}
