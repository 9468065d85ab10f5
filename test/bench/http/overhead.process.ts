import {
  Controller,
  Get,
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
import { Locked, LockService, RedisLockModule } from '../../../dist/index.js';
import { serveCalls } from '../../support/serve-calls.js';
import type { RedisAddress } from '../contestant.js';

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

let app: INestApplication | undefined;

const calls = {
  /** An application with the module, or with the plain route alone where no Redis is given. Gives the port. */
  async listen(redis: RedisAddress | undefined): Promise<number> {
    app = await NestFactory.create(moduleOf(redis), { logger: false });
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
  const locked: ModuleMetadata = {
    imports: [RedisLockModule.forRoot({ connection: { ...redis } })],
    controllers: [PlainController, DecoratedController, HandWrittenController, InterceptedController],
  };

  @Module(redis ? locked : plain)
  class OverheadModule {}

  return OverheadModule;
}

process.setSourceMapsEnabled(false);
serveCalls(calls);
