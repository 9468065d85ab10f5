import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Controller,
  Injectable,
  Module,
  UseFilters,
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
import {
  isLockError,
  Locked,
  LockExceptionFilter,
  LockService,
  Once,
  RedisLockModule,
} from 'nest-redis-lock';
import { firstValueFrom, tap, type Observable } from 'rxjs';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { MessageOrdersController } from '../support/message-orders.controller.js';
import { listen, messageShop } from '../support/message-shop.js';
import { expectNothingHeld, PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock, type Order } from '../support/stock.js';

/** Both applications sell from it. */
const shared = new Stock();
const EVENT = 'orders.event';
const BROKEN = 'orders.broken';
const RECEIPT = 'receipts.write';
const events = { refused: 0, redelivered: 0, dropped: 0, done: 0 };
const receipts = { delivered: 0, written: 0, acknowledged: 0 };

/** Lock errors after which a second delivery may succeed. */
const PASSING: ReadonlySet<string> = new Set([
  'LOCK_TIMEOUT',
  'LOCK_QUEUE_FULL',
  'LOCK_UNAVAILABLE',
  'LOCK_CLOSED',
]);

/**
 * Acknowledges a message after its commit, so it is registered in front of the interceptor that commits. Returns an
 * event without the lock to its queue, and drops one that would fail again. The caller of another message receives the
 * error.
 */
@Injectable()
class AcknowledgeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rmq = context.switchToRpc().getContext<RmqContext>();
    const channel = rmq.getChannelRef() as Channel;
    const message = rmq.getMessage() as Message;
    const isEvent = message.properties.replyTo === undefined;
    if (isEvent && message.fields.redelivered) events.redelivered += 1;
    const acknowledge = () => {
      channel.ack(message);
      if (rmq.getPattern() === RECEIPT) receipts.acknowledged += 1;
    };
    const reject = (error: unknown) => {
      const isPassing = isLockError(error) && PASSING.has(error.code);
      events[isPassing ? 'refused' : 'dropped'] += 1;
      channel.nack(message, false, isPassing);
    };
    return next.handle().pipe(
      tap({
        next: (reply) => assert.equal(reply, 'committed'),
        complete: acknowledge,
        error: isEvent ? reject : acknowledge,
      }),
    );
  }
}

interface Receipt {
  readonly key: string;
}

/** Writes each receipt once, although its event is delivered again. */
@Injectable()
class Receipts {
  isWriting = false;

  @Once('receipt:<0.key>', { wait: PATIENCE, keep: '1h' })
  async write({ key }: Receipt): Promise<string> {
    this.isWriting = true;
    receipts.written += 1;
    await until(() => receipts.delivered > 1, 'the event of a closed channel to be delivered again');
    return `receipt of ${key}`;
  }
}

@Controller()
@UseFilters(LockExceptionFilter)
class OrdersController extends MessageOrdersController {
  constructor(
    locks: LockService,
    stock: Stock,
    private readonly writer: Receipts,
  ) {
    super(locks, stock);
  }

  @EventPattern(EVENT)
  @Locked(STOCK, { wait: 50 })
  async onEvent(@Payload() _event: object): Promise<Order> {
    const order = await this.stock.order();
    events.done += 1;
    return order;
  }

  @EventPattern(BROKEN)
  @Locked(STOCK)
  async onBroken(@Payload() _event: object): Promise<Order> {
    throw new Error('broken');
  }

  @EventPattern(RECEIPT)
  async onReceipt(@Payload() receipt: Receipt): Promise<Order> {
    receipts.delivered += 1;
    assert.equal(await this.writer.write(receipt), `receipt of ${receipt.key}`);
    return { sold: this.stock.sold };
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [OrdersController],
  providers: [
    { provide: Stock, useValue: shared },
    Receipts,
    { provide: APP_INTERCEPTOR, useClass: AcknowledgeInterceptor },
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

  const emit = (pattern: string, data: object) =>
    firstValueFrom(client.emit(pattern, data), { defaultValue: undefined });

  const before = shared.sold;
  const lock = await locks.acquire(STOCK);
  await emit(EVENT, {});
  await until(() => events.refused > 1 && events.redelivered > 0, 'a refused event to be delivered again');
  await lock.release();
  await until(() => shared.sold > before, 'the event to be handled');
  await emit(BROKEN, {});
  await until(() => events.dropped > 0, 'an event whose handler fails to be dropped');
  await expectNothingHeld(locks);
  assert.deepEqual([events.done, events.dropped, shared.sold - before], [1, 1, 1]);

  // Nest closes the channel while the handler still runs, so the other application receives the event, too.
  await emit(RECEIPT, { key: 'a' });
  const isWriting = (app: (typeof apps)[number]) => app.get(Receipts).isWriting;
  await until(() => apps.some(isWriting), 'the receipt to be written');
  await apps.find(isWriting)?.close();
  await until(() => receipts.acknowledged > 0, 'the receipt to be acknowledged');
  assert.deepEqual(receipts, { delivered: 2, written: 1, acknowledged: 1 });
  await client.close();
  await apps.find((app) => !isWriting(app))?.close();
});
