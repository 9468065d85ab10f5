import { Controller, Injectable } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Locked, LockService, LockTimeoutError, RedisLockModule } from '../../../lib/index.js';
import { HttpApplication } from '../../e2e/support/http-application.js';
import { duringTests } from '../../support/during-tests.js';

@Injectable()
class Stock {
  @Locked('stock', { wait: 0 })
  async take(): Promise<string> {
    return 'done';
  }
}

@Controller()
class BotController {
  constructor(private readonly stock: Stock) {}

  async plain(): Promise<string> {
    return this.stock.take();
  }

  @Locked('bot')
  async locked(): Promise<string> {
    return this.stock.take();
  }
}

describe('a handler in a context that another package creates without a type', () => {
  const app = duringTests(() =>
    HttpApplication.start(new ExpressAdapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [BotController],
      providers: [Stock],
    }),
  );

  /** A call of the handler with the arguments of a package for bots. */
  function call(name: 'plain' | 'locked', ...args: unknown[]): Promise<unknown> {
    const controller = app.nest.get(BotController);
    const handler = app.nest.get(ExternalContextCreator).create(controller, controller[name], name);
    return handler(...args) as Promise<unknown>;
  }

  it.each([
    ['plain', []],
    ['locked', []],
    ['locked', ['a message', () => 'the next handler']],
    ['plain', ['a message', { id: 'an interaction' }]],
    ['locked', ['a message', { id: 'an interaction' }]],
  ] as const)('rejects with the lock error of its service: %s %p', async (name, args) => {
    await using _ = await app.nest.get(LockService).acquire('stock');
    await expect(call(name, ...args)).rejects.toBeInstanceOf(LockTimeoutError);
  });

  it.each(['plain', 'locked'] as const)('runs under its locks: %s', async (name) => {
    expect(await call(name, 'a message')).toBe('done');
    expect(app.nest.get(LockService).holds()).toEqual([]);
  });
});
