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
import { APP_INTERCEPTOR } from '@nestjs/core';
import {
  ClientProxyFactory,
  EventPattern,
  Payload,
  Transport,
  type RmqContext,
  type RmqOptions,
} from '@nestjs/microservices';
import type { Channel, Message } from 'amqplib';
import { Locked, LockExceptionFilter, LockService, RedisLockModule } from 'nest-redis-lock';
import { firstValueFrom, tap, type Observable } from 'rxjs';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { MessageOrdersController } from '../support/message-orders.controller.js';
import { listen, messageShop } from '../support/message-shop.js';
import { expectNothingHeld, PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock, type Order } from '../support/stock.js';

/** Both applications sell from it. */
const shared = new Stock();
const EVENT = 'orders.event';
const events = { refused: 0, redelivered: 0, done: 0 };

/**
 * Acknowledges a message after its commit. Returns an event without the lock to its queue; the caller of another message
 * receives the error.
 */
@Injectable()
class AcknowledgeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rmq = context.switchToRpc().getContext<RmqContext>();
    const channel = rmq.getChannelRef() as Channel;
    const message = rmq.getMessage() as Message;
    const isEvent = rmq.getPattern() === EVENT;
    if (isEvent && message.fields.redelivered) events.redelivered += 1;
    const acknowledge = () => channel.ack(message);
    const returnToQueue = () => {
      events.refused += 1;
      channel.nack(message, false, true);
    };
    return next.handle().pipe(tap({ complete: acknowledge, error: isEvent ? returnToQueue : acknowledge }));
  }
}

@Controller()
@UseFilters(LockExceptionFilter)
@UseInterceptors(AcknowledgeInterceptor)
class OrdersController extends MessageOrdersController {
  @EventPattern(EVENT)
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
  const apps = [await listen(ShopModule, rmq), await listen(ShopModule, rmq)] as const;
  const locks = apps[0].get(LockService);
  const client = ClientProxyFactory.create({ transport: Transport.RMQ, options });
  await tryShop(messageShop(client, { locks, sold: () => shared.sold }));

  const before = shared.sold;
  const lock = await locks.acquire(STOCK);
  await firstValueFrom(client.emit(EVENT, {}), { defaultValue: undefined });
  await until(() => events.refused > 1 && events.redelivered > 0, 'a refused event to be delivered again');
  await lock.release();
  await until(() => shared.sold > before, 'the event to be handled');
  await expectNothingHeld(locks);
  assert.deepEqual([events.done, shared.sold - before], [1, 1]);
  await client.close();
  for (const app of apps) await app.close();
});
