import { Controller, Get, Inject, Injectable, Param, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Locked, LockService, LockTimeoutError, RedisLockModule } from '../../../lib/index.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { HttpApplication, platforms } from '../support/http-application.js';
import { CriticalSection } from './support/critical-section.js';

@Injectable()
class PlainStock {
  constructor(private readonly section: CriticalSection) {}

  @Locked('stock:<0>')
  async reserve(_sku: string): Promise<number> {
    return this.section.run();
  }

  @Locked('stock:<0>', { wait: 0 })
  async attempt(_sku: string): Promise<number> {
    return this.section.run();
  }

  /** A call through `this`. */
  async reserveTwice(sku: string): Promise<number[]> {
    return Promise.all([this.reserve(sku), this.reserve(sku)]);
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientStock {
  constructor(private readonly section: CriticalSection) {}

  @Locked('stock:<0>')
  async reserve(_sku: string): Promise<number> {
    return this.section.run();
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestScopedStock {
  constructor(
    private readonly section: CriticalSection,
    @Inject(REQUEST) private readonly request: { url: string },
  ) {}

  @Locked('stock:<0>')
  async reserve(_sku: string): Promise<string> {
    await this.section.run();
    return this.request.url;
  }
}

@Controller()
class StockController {
  constructor(
    private readonly plain: PlainStock,
    private readonly one: TransientStock,
    private readonly scoped: RequestScopedStock,
  ) {}

  @Get('all/:sku')
  async all(@Param('sku') sku: string): Promise<string> {
    await Promise.all([this.plain.reserveTwice(sku), this.one.reserve(sku)]);
    return this.scoped.reserve(sku);
  }
}

describe.each(platforms)('locked methods of providers on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const app = duringTests(() =>
    HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [StockController],
      providers: [PlainStock, TransientStock, RequestScopedStock, CriticalSection],
    }),
  );

  it('exclude each other, plain, transient and request-scoped ones', async () => {
    const paths = ['/all/a?1', '/all/a?2', '/all/a?3'];
    const answers = await Promise.all(paths.map(async (path) => (await app.get(path)).text()));
    expect(answers).toEqual(paths);
    expect(app.nest.get(CriticalSection)).toMatchObject({ runs: 12, most: 1 });
  });

  it('reject with the lock error', async () => {
    await using _ = await app.nest.get(LockService).acquire('stock:b');
    await expect(app.nest.get(PlainStock).attempt('b')).rejects.toThrow(LockTimeoutError);
  });
});
