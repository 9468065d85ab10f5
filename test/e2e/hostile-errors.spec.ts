import { Controller, Get, Injectable, Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { listenToLocks } from '../../lib/diagnostics/index.js';
import { isLockError, Locked, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { unreadable } from '../support/unreadable.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication } from './support/http-application.js';

/** A thrown value of which nothing can be read. */
const hostile: object = new Proxy({}, { get: unreadable, has: unreadable, getPrototypeOf: unreadable });

@Injectable()
class Work {
  @Locked('work')
  async promise(): Promise<void> {
    throw hostile;
  }
}

@Controller()
class WorkController {
  constructor(private readonly work: Work) {}

  @Get('handler')
  @Locked('work')
  async handler(): Promise<void> {
    throw hostile;
  }

  @Get('service')
  service(): Promise<void> {
    return this.work.promise();
  }
}

// hostile-results.spec.ts throws others in methods of each kind.
describe('a thrown value whose properties throw', () => {
  const server = duringTests(() => RedisServer.start());
  const app = duringTests(() =>
    HttpApplication.start(new ExpressAdapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [WorkController],
      providers: [Work],
    }),
  );

  it.each(['handler', 'service'])('of a request leaves no lock behind: %s', async (path) => {
    // Nest reads the value in its own exception filter, so the request may end without a reply.
    const client = new AbortController();
    const response = app.get(`/${path}`, { signal: client.signal }).catch(() => undefined);
    await waitFor(
      async () => app.locks.holds().length === 0 && (await app.locks.query('work')).held.length === 0,
    );
    client.abort();
    await response;
  });

  it('ends a wait as the reason of its signal, also while the wait is observed', async () => {
    const failed = jest.fn();
    const stop = listenToLocks({ 'nest-redis-lock:acquire:failed': failed });
    await using _ = await app.locks.acquire('work');
    const leaving = new AbortController();
    const waiting = app.locks.acquire('work', { signal: leaving.signal }).catch((error: unknown) => [error]);
    leaving.abort(hostile);
    const reasons = await waiting;
    stop();
    expect(Array.isArray(reasons) && Object.is(reasons[0], hostile)).toBe(true);
    expect(failed.mock.calls.length).toBe(1);
  });

  it("of a leader's work is logged, and the campaign continues", async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const end = new AbortController();
    let terms = 0;
    const leading = app.locks.lead(
      'leader',
      () => {
        terms += 1;
        throw hostile;
      },
      { signal: end.signal, pause: 1 },
    );
    await waitFor(() => terms > 1);
    end.abort();
    await leading;
    expect(logged).toHaveBeenCalledWith(expect.stringContaining('a value without text'));
    logged.mockRestore();
  });

  it('is not a lock error', () => {
    expect(isLockError(hostile)).toBe(false);
  });
});
