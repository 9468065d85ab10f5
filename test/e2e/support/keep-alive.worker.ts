import { Controller, Get, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { serveCalls } from '../../support/serve-calls.js';

const [connection = ''] = process.argv.slice(2);

@Controller()
class OrderController {
  @Get('order')
  @Locked('z', { wait: 0 })
  async order(): Promise<string> {
    return 'done';
  }
}

@Module({ imports: [RedisLockModule.forRoot({ connection })], controllers: [OrderController] })
class OrderModule {}

const calls = {
  async listen(): Promise<number> {
    const app: INestApplication = await NestFactory.create(OrderModule, { logger: false });
    await app.listen(0, '127.0.0.1');
    const server = app.getHttpServer() as { address(): { port: number } };
    return server.address().port;
  },
};

export type KeepAliveCalls = typeof calls;

serveCalls(calls);
