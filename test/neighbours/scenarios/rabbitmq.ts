import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Controller,
  Injectable,
  Module,
  UseFilters,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import {
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  Payload,
  Transport,
  type RmqContext,
  type RmqOptions,
} from '@nestjs/microservices';
import type { Channel, Message } from 'amqplib';
import { Locked, LockExceptionFilter, LockService, RedisLockModule } from 'nest-redis-lock';
import { firstValueFrom, tap, type Observable } from 'rxjs';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { expectNothingHeld, PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock, type Order } from '../support/stock.js';

/** Both applications sell from it. */
const shared = new Stock();
const events = { refused: 0, redelivered: 0, done: 0 };

/** Acknowledges a message after its commit, and returns one without the lock to its queue. */
@Injectable()
class AcknowledgeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rmq = context.switchToRpc().getContext<RmqContext>();
    const channel = rmq.getChannelRef() as Channel;
    const message = rmq.getMessage() as Message;
    if (message.fields.redelivered) events.redelivered += 1;
    const returnToQueue = () => {
      events.refused += 1;
      channel.nack(message, false, true);
    };
    return next.handle().pipe(tap({ complete: () => channel.ack(message), error: returnToQueue }));
  }
}

/** Only acknowledges: the caller of a message receives the error. */
@Injectable()
class ReplyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rmq = context.switchToRpc().getContext<RmqContext>();
    const acknowledge = () => (rmq.getChannelRef() as Channel).ack(rmq.getMessage() as Message);
    return next.handle().pipe(tap({ complete: acknowledge, error: acknowledge }));
  }
}

@Controller()
@UseFilters(LockExceptionFilter)
class OrdersController {
  constructor(
    private readonly locks: LockService,
    private readonly stock: Stock,
  ) {}

  @MessagePattern('orders.place')
  @UseInterceptors(ReplyInterceptor)
  @Locked(STOCK, { wait: PATIENCE })
  place(): Promise<Order> {
    // Nested: the async context is that of the message.
    return this.locks.using(STOCK, { wait: 0 }, () => this.stock.order());
  }

  @MessagePattern('orders.impatient')
  @UseInterceptors(ReplyInterceptor)
  @Locked(STOCK, { wait: 0 })
  placeImpatiently(): Promise<Order> {
    return this.stock.order();
  }

  @EventPattern('orders.event')
  @UseInterceptors(AcknowledgeInterceptor)
  @Locked(STOCK, { wait: 50 })
  async onEvent(@Payload() _event: object): Promise<Order> {
    const order = await this.stock.order();
    events.done += 1;
    return order;
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [OrdersController],
  providers: [
    { provide: Stock, useValue: shared },
    { provide: APP_INTERCEPTOR, useClass: CommitInterceptor },
  ],
})
class ShopModule {}

async function until(isTrue: () => boolean, that: string): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!isTrue()) {
    assert.ok(performance.now() < end, `waited for ${that}: ${JSON.stringify(events)}`);
    await delay(5);
  }
}

scenario(async () => {
  const options = { urls: [process.env['BROKER_URL'] ?? ''], queue: 'shops' };
  const rmq: RmqOptions = {
    transport: Transport.RMQ,
    options: { ...options, noAck: false, prefetchCount: 5 },
  };
  const start = async () => {
    const app = await NestFactory.createMicroservice<RmqOptions>(ShopModule, {
      ...rmq,
      logger: ['warn', 'error', 'fatal'],
    });
    await app.listen();
    return app;
  };
  const apps = [await start(), await start()] as const;
  const locks = apps[0].get(LockService);
  const client = ClientProxyFactory.create({ transport: Transport.RMQ, options });
  const send = (pattern: string) => firstValueFrom(client.send<unknown>(pattern, {}));
  await tryShop({
    locks,
    place: () => send('orders.place'),
    reply: 'committed',
    async placeImpatiently() {
      const refused = send('orders.impatient').catch((error: unknown) => error);
      const { status, code, retryAfter } = (await refused) as Record<string, unknown>;
      return { status, code, retryAfter };
    },
    refusal: { status: 'error', code: 'LOCK_TIMEOUT', retryAfter: 1 },
    sold: () => shared.sold,
  });

  const before = shared.sold;
  const lock = await locks.acquire(STOCK);
  await firstValueFrom(client.emit('orders.event', {}), { defaultValue: undefined });
  await until(() => events.refused > 1 && events.redelivered > 0, 'a refused event to be delivered again');
  await lock.release();
  await until(() => shared.sold > before, 'the event to be handled');
  await expectNothingHeld(locks);
  assert.deepEqual([events.done, shared.sold - before], [1, 1]);
  await client.close();
  for (const app of apps) await app.close();
});
