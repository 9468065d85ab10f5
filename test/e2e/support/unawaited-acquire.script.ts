import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockService, RedisLockModule } from 'nest-redis-lock';

@Controller()
class OrdersController {
  constructor(private readonly locks: LockService) {}

  @Get()
  async place(): Promise<void> {
    void this.locks.acquire('order', { wait: 0 });
  }
}

@Module({ imports: [RedisLockModule.forRoot({ connection: 'memory' })], controllers: [OrdersController] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: false });
  process.on('unhandledRejection', (reason) => process.stdout.write(`unhandled ${String(reason)}`));
  await app.listen(0);
  const held = await app.get(LockService).acquire('order');
  await fetch(await app.getUrl());
  await held.release();
  await app.close();
}

void main();
