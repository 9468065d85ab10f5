import { Controller, Get, Inject, Module, Param, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { Locked, LockService, RedisLockModule } from '../../../dist/index.js';
import { serveCalls } from '../../support/serve-calls.js';
import { LEASE } from '../adapters/common-settings.js';
import { REDLOCK_SETTINGS } from '../adapters/redlock-contestant.js';
import type { RedisAddress } from '../contestant.js';

const REDLOCK = Symbol('redlock');

/** What serves the routes. */
export type Platform = 'Express' | 'Fastify';

/** The same empty route without a lock, with the decorator, by hand, and with redlock's own way of holding a lock. */
@Controller()
class OrdersController {
  constructor(
    @Inject(REDLOCK) private readonly redlock: Redlock,
    private readonly locks: LockService,
  ) {}

  @Get('none/:id')
  async withoutLock(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Locked('order:<0>')
  @Get('ours/:id')
  async withDecorator(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Get('by-hand/:id')
  async byHand(@Param('id') id: string): Promise<string> {
    const lock = await this.locks.acquire(`order:${id}`);
    try {
      return id;
    } finally {
      await lock.release();
    }
  }

  @Get('redlock/:id')
  async withRedlock(@Param('id') id: string): Promise<string> {
    return this.redlock.using([`order:${id}`], LEASE, async () => id);
  }
}

let app: INestApplication | undefined;

const calls = {
  /** Gives the port. */
  async listen({ platform, redis }: { platform: Platform; redis: RedisAddress }): Promise<number> {
    const client = new Redis({ ...redis });
    const redlock = new Redlock([client], REDLOCK_SETTINGS);
    redlock.on('error', () => {});

    @Module({
      imports: [RedisLockModule.forRoot({ connection: { ...redis } })],
      controllers: [OrdersController],
      providers: [{ provide: REDLOCK, useValue: redlock }],
    })
    class OrdersModule {}

    app =
      platform === 'Fastify'
        ? await NestFactory.create(OrdersModule, new FastifyAdapter(), { logger: false })
        : await NestFactory.create(OrdersModule, { logger: false });
    await app.listen(0, '127.0.0.1');
    const server = app.getHttpServer() as { address(): { port: number } };
    return server.address().port;
  },

  /** Milliseconds of CPU that this process has used. */
  cpu(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

export type HttpCalls = typeof calls;

process.setSourceMapsEnabled(false);
serveCalls(calls);
