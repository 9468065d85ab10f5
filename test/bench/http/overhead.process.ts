import {
  Controller,
  Get,
  Inject,
  Module,
  Param,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type INestApplication,
  type ModuleMetadata,
  type NestInterceptor,
} from '@nestjs/common';
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

/** No locked method here: the module's interceptor is all that is in the way of its route. */
@Controller()
class PlainController {
  @Get('plain/:id')
  async get(@Param('id') id: string): Promise<string> {
    return id;
  }
}

@Controller()
class DecoratedController {
  @Locked('order:<0>')
  @Get('decorated/:id')
  async get(@Param('id') id: string): Promise<string> {
    return id;
  }
}

/** What the decorator saves its users from writing. */
@Controller()
class HandWrittenController {
  constructor(private readonly locks: LockService) {}

  @Get('by-hand/:id')
  async get(@Param('id') id: string): Promise<string> {
    const lock = await this.locks.acquire(`order:${id}`);
    try {
      return id;
    } finally {
      await lock.release();
    }
  }
}

class EmptyInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    return next.handle();
  }
}

/** Tells what of the decorator's cost is that of any interceptor in Nest. */
@UseInterceptors(EmptyInterceptor)
@Controller()
class InterceptedController {
  constructor(private readonly locks: LockService) {}

  @Get('intercepted/:id')
  async get(@Param('id') id: string): Promise<string> {
    const lock = await this.locks.acquire(`order:${id}`);
    try {
      return id;
    } finally {
      await lock.release();
    }
  }
}

/** Redlock's own way of holding a lock. */
@Controller()
class RedlockController {
  constructor(@Inject(REDLOCK) private readonly redlock: Redlock) {}

  @Get('redlock/:id')
  async get(@Param('id') id: string): Promise<string> {
    return this.redlock.using([`order:${id}`], LEASE, async () => id);
  }
}

let app: INestApplication | undefined;

const calls = {
  /** An application with the module, or with the plain route alone where no Redis is given. Gives the port. */
  async listen(redis: RedisAddress | undefined, platform: Platform = 'Express'): Promise<number> {
    app =
      platform === 'Fastify'
        ? await NestFactory.create(moduleOf(redis), new FastifyAdapter(), { logger: false })
        : await NestFactory.create(moduleOf(redis), { logger: false });
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

export type OverheadCalls = typeof calls;

function moduleOf(redis: RedisAddress | undefined): new () => object {
  const plain: ModuleMetadata = { controllers: [PlainController] };
  const locked = (address: RedisAddress): ModuleMetadata => ({
    imports: [RedisLockModule.forRoot({ connection: { ...address } })],
    controllers: [
      PlainController,
      DecoratedController,
      HandWrittenController,
      InterceptedController,
      RedlockController,
    ],
    providers: [{ provide: REDLOCK, useFactory: () => redlockAt(address) }],
  });

  @Module(redis ? locked(redis) : plain)
  class OverheadModule {}

  return OverheadModule;
}

function redlockAt(redis: RedisAddress): Redlock {
  const redlock = new Redlock([new Redis({ ...redis })], REDLOCK_SETTINGS);
  redlock.on('error', () => {});
  return redlock;
}

process.setSourceMapsEnabled(false);
serveCalls(calls);
