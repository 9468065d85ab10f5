import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Controller, Module, UseFilters } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport, type MqttOptions } from '@nestjs/microservices';
import { Aedes } from 'aedes';
import { Locked, LockExceptionFilter, LockService, RedisLockModule } from 'nest-redis-lock';
import { firstValueFrom } from 'rxjs';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock, type Order } from '../support/stock.js';

@Controller()
@UseFilters(LockExceptionFilter)
class OrdersController {
  constructor(private readonly stock: Stock) {}

  @MessagePattern('orders/place')
  @Locked(STOCK, { wait: PATIENCE })
  place(): Promise<Order> {
    return this.stock.order();
  }

  @MessagePattern('orders/impatient')
  @Locked(STOCK, { wait: 0 })
  placeImpatiently(): Promise<Order> {
    return this.stock.order();
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [OrdersController],
  providers: [Stock, { provide: APP_INTERCEPTOR, useClass: CommitInterceptor }],
})
class ShopModule {}

scenario(async () => {
  const broker = await Aedes.createBroker();
  const listener = createServer(broker.handle).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;

  const mqtt: MqttOptions = { transport: Transport.MQTT, options: { url: `mqtt://127.0.0.1:${port}` } };
  const app = await NestFactory.createMicroservice<MqttOptions>(ShopModule, {
    ...mqtt,
    logger: ['warn', 'error', 'fatal'],
  });
  await app.listen();
  const client = ClientProxyFactory.create(mqtt);
  const send = (pattern: string) => firstValueFrom(client.send<unknown>(pattern, {}));
  await tryShop({
    locks: app.get(LockService),
    place: () => send('orders/place'),
    reply: 'committed',
    async placeImpatiently() {
      const refused = send('orders/impatient').catch((error: unknown) => error);
      const { status, code, retryAfter } = (await refused) as Record<string, unknown>;
      return { status, code, retryAfter };
    },
    refusal: { status: 'error', code: 'LOCK_TIMEOUT', retryAfter: 1 },
    sold: () => app.get(Stock).sold,
  });
  await client.close();
  await app.close();
  await new Promise<void>((resolve) => broker.close(resolve));
  listener.close();
});
