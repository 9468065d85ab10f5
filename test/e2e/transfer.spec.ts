import { Controller, Injectable, Logger, Param, Post } from '@nestjs/common';
import { CurrentLock, Locked, LockService, RedisLockModule, type Lock } from '../../lib/index.js';
import { duringEachTest, duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';

/** Stands for a job queue. */
const jobs: string[] = [];

@Injectable()
class Stock {
  @Locked('stock:<0>')
  async below(own: string, work: () => Promise<unknown>): Promise<string> {
    await work();
    return own;
  }
}

@Controller()
class OrdersController {
  private arrived = 0;
  private go: (() => void) | undefined;
  private readonly together = new Promise<void>((resolve) => (this.go = resolve));

  constructor(private readonly stock: Stock) {}

  @Post('begin/:order')
  @Locked('order:<0>')
  async begin(@Param('order') order: string, @CurrentLock() lock?: Lock): Promise<object> {
    jobs.push((await lock?.detach()) ?? '');
    return { order, token: lock?.fencingToken };
  }

  @Post('move/:from/:to')
  async move(@Param('from') from: string, @Param('to') to: string): Promise<string> {
    return this.stock.below(from, async () => {
      this.arrived += 1;
      if (this.arrived === 2) this.go?.();
      await this.together;
      return this.stock.below(to, async () => undefined);
    });
  }
}

describe.each(platforms)('a locked handler on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const app = duringEachTest(() =>
    HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [OrdersController],
      providers: [Stock],
    }),
  );

  it('can hand its lock to a job that completes its work: the interceptor does not release it', async () => {
    const response = await app.post('/begin/7', {});
    expect(response.status).toBe(201);
    const { token } = (await response.json()) as { token: number };
    const locks = app.nest.get(LockService);
    expect(await locks.tryAcquire('order:7')).toBeUndefined();

    const lock = await locks.attach(jobs.pop() ?? '');
    expect(lock.fencingToken).toBe(token);
    await lock.release();
    await waitFor(async () => (await locks.query('order:7')).held.length === 0);
  });

  it('that would wait in a cycle fails with 500, hides the cycle from the client, and logs it', async () => {
    const logged: string[] = [];
    const spy = jest
      .spyOn(Logger, 'error')
      .mockImplementation((message: unknown) => void logged.push(String(message)));
    const responses = await Promise.all([app.post('/move/a/b', {}), app.post('/move/b/a', {})]);
    spy.mockRestore();

    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 500]);
    const refused = responses.find(({ status }) => status === 500);
    expect(await refused?.text()).not.toMatch(/stock|token|Deadlock/);
    expect(logged.join()).toMatch(/Deadlock: this call holds stock:[ab] \(token \d+\)/);
  });
});
