import { Controller, Get, Inject, Module, Param, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { Locked, RedisLockModule } from '../../../dist/cjs/index.js';
import { serveCalls } from '../../support/serve-calls.js';
import { LEASE } from '../adapters/common-settings.js';
import { REDLOCK_SETTINGS } from '../adapters/redlock-contestant.js';
import type { RedisAddress } from '../contestant.js';

const REDLOCK = Symbol('redlock');

/** The same empty route without a lock, with the decorator, and with redlock's own way of holding a lock. */
@Controller()
class OrdersController {
  constructor(@Inject(REDLOCK) private readonly redlock: Redlock) {}

  @Get('none/:id')
  async withoutLock(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Locked('order:<0>')
  @Get('ours/:id')
  async withDecorator(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Get('redlock/:id')
  async withRedlock(@Param('id') id: string): Promise<string> {
    return this.redlock.using([`order:${id}`], LEASE, async () => id);
  }
}

let app: INestApplication | undefined;

const calls = {
  /** Gives the port. */
  async listen(redis: RedisAddress): Promise<number> {
    const client = new Redis({ ...redis });
    const redlock = new Redlock([client], REDLOCK_SETTINGS);
    redlock.on('error', () => {});

    @Module({
      imports: [RedisLockModule.forRoot({ connection: { ...redis } })],
      controllers: [OrdersController],
      providers: [{ provide: REDLOCK, useValue: redlock }],
    })
    class OrdersModule {}

    app = await NestFactory.create(OrdersModule, { logger: false });
    await app.listen(0, '127.0.0.1');
    const server = app.getHttpServer() as { address(): { port: number } };
    return server.address().port;
  },
};

export type HttpCalls = typeof calls;

process.setSourceMapsEnabled(false);
serveCalls(calls);
