import { Controller, Get, Injectable } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { Journal } from './support/journal.js';
import { otherApplication } from './support/other-application.js';
import { TimeoutInterceptor, timeOut } from './support/timeout.interceptor.js';

@Injectable()
class Stock {
  constructor(
    private readonly journal: Journal,
    private readonly locks: LockService,
  ) {}

  @Locked('stock', { wait: 60_000 })
  async take(): Promise<string> {
    this.journal.write('ran');
    return 'done';
  }

  using(): Promise<string> {
    return this.locks.using('stock', { wait: 60_000 }, () => this.take());
  }

  async acquire(): Promise<string> {
    const lock = await this.locks.acquire(['another', 'stock'], { wait: 60_000 });
    this.journal.write('ran');
    await lock.release();
    return 'done';
  }
}

@Controller()
class OrdersController {
  constructor(private readonly stock: Stock) {}

  @Get('service')
  service(): Promise<string> {
    return this.stock.take();
  }

  @Get('using')
  using(): Promise<string> {
    return this.stock.using();
  }

  @Get('several-names')
  severalNames(): Promise<string> {
    return this.stock.acquire();
  }

  /** Responds before the lock is there. */
  @Get('background')
  background(): string {
    void this.stock.take();
    return 'accepted';
  }
}

// test/compositions ends requests of all transports by timeouts, with handlers, streams and services that are @Locked.
describe.each(platforms)('a request on %s that a TimeoutInterceptor has ended', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const other = duringTests(() => otherApplication(server.url));
  const app = duringTests(() =>
    HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [OrdersController],
      providers: [Stock, Journal, { provide: APP_INTERCEPTOR, useClass: TimeoutInterceptor }],
    }),
  );
  let holder: LockService;
  let journal: Journal;

  beforeEach(() => {
    holder = other.get(LockService);
    journal = app.nest.get(Journal);
  });

  const untilPending = (count: number): Promise<unknown> =>
    waitFor(async () => (await holder.query('stock')).pending.length === count);

  it.each(['service', 'using', 'several-names'])('waits no longer for its first lock: %s', async (path) => {
    await holder.using('stock', async () => {
      const calling = app.get(`/${path}`);
      await untilPending(1);
      timeOut();
      expect((await calling).status).toBe(408);
      await untilPending(0);
    });
    await holder.using(['another', 'stock'], () => undefined);

    expect(journal.lines).toEqual([]);
  });

  it('continues to wait in work that the handler did not await, after a response without an error', async () => {
    await holder.using('stock', async () => {
      expect((await app.get('/background')).status).toBe(200);
      await untilPending(1);
    });
    await waitFor(() => journal.lines.length === 1);

    expect(journal.lines.splice(0)).toEqual(['ran']);
  });
});
