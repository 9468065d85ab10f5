import { Controller, Get, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { serveCalls } from '../../support/serve-calls.js';

const [connection = '', platform = 'Express'] = process.argv.slice(2);

@Controller()
class OrderController {
  @Get('order')
  @Locked('z', { wait: 0 })
  async order(): Promise<string> {
    return 'done';
  }

  @Get('patient')
  @Locked('z', { wait: 60_000 })
  async patient(): Promise<string> {
    return 'done';
  }
}

@Module({ imports: [RedisLockModule.forRoot({ connection })], controllers: [OrderController] })
class OrderModule {}

const calls = {
  async listen(): Promise<number> {
    const adapter = platform === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter();
    const app: INestApplication = await NestFactory.create(OrderModule, adapter, { logger: false });
    app.enableShutdownHooks();
    await app.listen(0, '127.0.0.1');
    const server = app.getHttpServer() as { address(): { port: number } };
    return server.address().port;
  },
};

export type KeepAliveCalls = typeof calls;

serveCalls(calls);
