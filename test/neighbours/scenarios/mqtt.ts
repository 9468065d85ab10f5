import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ClientProxyFactory, Transport, type MqttOptions } from '@nestjs/microservices';
import { Aedes } from 'aedes';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { MessageOrdersController } from '../support/message-orders.controller.js';
import { listen, messageShop } from '../support/message-shop.js';
import { scenario, tryShop } from '../support/scenario.js';
import { Stock } from '../support/stock.js';

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [MessageOrdersController],
  providers: [Stock, { provide: APP_INTERCEPTOR, useClass: CommitInterceptor }],
})
class ShopModule {}

scenario(async () => {
  const broker = await Aedes.createBroker();
  const listener = createServer(broker.handle).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;

  const mqtt: MqttOptions = { transport: Transport.MQTT, options: { url: `mqtt://127.0.0.1:${port}` } };
  const app = await listen(ShopModule, mqtt);
  const client = ClientProxyFactory.create(mqtt);
  await tryShop(messageShop(client, { locks: app.get(LockService), sold: () => app.get(Stock).sold }));
  await client.close();
  await app.close();
  await new Promise<void>((resolve) => broker.close(resolve));
  listener.close();
});
