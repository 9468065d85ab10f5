import { channel } from 'node:diagnostics_channel';
import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Module,
  VersioningType,
  type DynamicModule,
  type NestInterceptor,
} from '@nestjs/common';
import { map } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import {
  type LockInspection,
  LockInspectorModule,
  type LockInspectorOptions,
} from '../../lib/inspector/index.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { type ApplicationSetup, HttpApplication, platforms } from './support/http-application.js';

@Injectable()
class Passwords {
  readonly right = 'sesame';
}

@Module({ providers: [Passwords], exports: [Passwords] })
class PasswordModule {}

/** Needs a provider of another module, as guards do. */
@Injectable()
class AdminGuard implements CanActivate {
  constructor(private readonly passwords: Passwords) {}

  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest().headers.authorization === this.passwords.right;
  }
}

@Injectable()
class Orders {
  @Locked('order:<0>')
  async place(_id: string, work: () => Promise<unknown>): Promise<void> {
    await work();
  }
}

const ACTING = { 'x-lock-inspector': 'test' };

/** In paths, in queries, in HTML. */
const HOSTILE_NAMES = [
  'order/42/line',
  '100%',
  'a%2Fb',
  '%',
  'what?limit=1#here',
  'a+b c&d=e',
  'ünïcödé 🔒',
  '<img src=x onerror=alert(1)>',
  '"quoted" \\ back',
  '..%2f..',
  'a/../b',
];

/** For which there is the query. */
const NAMES_BEYOND_PATHS = ['events', '.', '..', 'x'.repeat(500)];

describe.each(platforms)('The inspector on %s', (_name, platform) => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  afterEach(() => server.client().flushall());

  async function start(
    options: LockInspectorOptions = { public: true },
    setup: ApplicationSetup = {},
    others: readonly DynamicModule[] = [],
  ): Promise<HttpApplication> {
    const locks = RedisLockModule.forRoot({ connection: server.url, ttl: 5_000 });
    const metadata = {
      imports: [locks, ...others, LockInspectorModule.forRoot(options)],
      providers: [Orders],
    };
    return closing(await HttpApplication.start(platform(), metadata, setup));
  }

  const locksOf = (of: HttpApplication) => of.nest.get(LockService);
  const encoded = (name: string) => `/locks/${encodeURIComponent(name)}`;
  const named = (name: string) => `/locks?name=${encodeURIComponent(name)}`;

  async function json<T = LockInspection>(
    started: HttpApplication,
    path: string,
    init?: RequestInit,
  ): Promise<T> {
    const answer = await started.get(path, init);
    return (await answer.json()) as T;
  }

  it('lists the holds of all instances, and those of this process with their methods', async () => {
    const started = await start();
    await server.client().set('lock:{import}', 'elsewhere', 'PX', 30_000);
    await started.nest.get(Orders).place('42', async () => {
      const answer = await started.get('/locks');
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      const found = await json(started, '/locks');
      expect(found.names).toHaveLength(2);
      expect(found.names).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ name: 'import', owner: 'elsewhere' }),
          expect.objectContaining({ name: 'order:42', mode: 'exclusive', waiting: 0 }),
        ]),
      );
      expect(found).toMatchObject({ isPart: false, actions: false, holdCount: 1, lost: [] });
      expect(found.instance).toMatchObject({ pid: process.pid });
      expect(found.holds).toMatchObject([
        { name: 'order:42', method: 'Orders.place', template: 'order:<0>' },
      ]);
      expect((await json(started, '/locks?prefix=imp')).names).toMatchObject([{ name: 'import' }]);
    });
  });

  it('lists a part of many names, and says so', async () => {
    const started = await start();
    const names = Array.from({ length: 30 }, (_, index) => `part:${index}`);
    await using _ = await locksOf(started).acquire(names);
    const found = await json(started, '/locks?limit=10');
    expect(found.names).toHaveLength(10);
    expect(found).toMatchObject({ isPart: true, holdCount: 30 });
    expect(found.holds).toHaveLength(10);
    expect(await json(started, '/locks?limit=30')).toMatchObject({ isPart: false });
  });

  it('refuses limits that are no whole numbers up to 10,000', async () => {
    const started = await start();
    for (const limit of ['0', '-1', '1.5', '10001', 'many', '1&limit=2'])
      expect([limit, (await started.get(`/locks?limit=${limit}`)).status]).toEqual([limit, 400]);
  });

  it('asks for any name', async () => {
    const started = await start();
    for (const name of [...HOSTILE_NAMES, ...NAMES_BEYOND_PATHS]) {
      await using _ = await locksOf(started).acquire(name);
      const paths = [named(name), ...(HOSTILE_NAMES.includes(name) ? [encoded(name)] : [])];
      for (const path of paths)
        expect(await json(started, path)).toMatchObject({ held: [{ name }], pending: [] });
    }
  });

  it('shows until when a result is kept, and not the result', async () => {
    const started = await start();
    await locksOf(started).once('report', { keep: '1h' }, () => 'secret');
    const answer = await started.get(encoded('report'));
    const text = await answer.text();
    const { done } = JSON.parse(text) as { done: { at: string; until: string } };

    expect(Object.keys(done)).toEqual(['at', 'until']);
    expect(Date.parse(done.until) - Date.parse(done.at)).toBeGreaterThan(3_590_000);
    expect(text).not.toContain('secret');
  });

  it('rejects an invalid lock name', async () => {
    const started = await start();
    expect((await started.get('/locks/%7Dx')).status).toBe(400);
    expect((await started.get('/locks/a%0Ab')).status).toBe(400);
    expect((await started.get(named('x'.repeat(513)))).status).toBe(400);
    expect((await started.get('/locks?name=a&name=b')).status).toBe(400);
  });

  describe('runs its guards', () => {
    const guarded: LockInspectorOptions = { guards: [AdminGuard], imports: [PasswordModule], actions: true };
    const requests: [string, string, RequestInit][] = [
      ['GET', '/locks', {}],
      ['GET', '/locks', { headers: { accept: 'text/html' } }],
      ['GET', '/locks/order:42', {}],
      ['GET', '/locks/events', {}],
      ['DELETE', '/locks/order:42', { method: 'DELETE', headers: ACTING }],
    ];

    it.each(requests)('before %s %s', async (_method, path, init) => {
      const started = await start(guarded);
      await using held = await locksOf(started).acquire('order:42');
      const refused = await started.get(path, init);
      expect(refused.status).toBe(403);
      expect(await refused.text()).not.toContain('order:42');
      expect(held.held).toBe(true);

      const headers = new Headers(init.headers);
      headers.set('authorization', 'sesame');
      const allowed = await started.get(path, { ...init, headers });
      expect(allowed.status).toBe(200);
      await allowed.body?.cancel();
    });
  });

  it('gives a browser the page, with a policy that lets nothing else in', async () => {
    const started = await start();
    const answer = await started.get('/locks', {
      headers: { accept: 'text/html,application/xhtml+xml,*/*' },
    });
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await answer.text()).toContain('<title>Locks</title>');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(answer.headers.get('cache-control')).toContain('no-store');
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
  });

  it('answers as ever below an interceptor that wraps the results of all routes', async () => {
    const wrap: NestInterceptor = {
      intercept: (_context, next) => next.handle().pipe(map((data: unknown) => ({ success: true, data }))),
    };
    const started = await start(
      { public: true, actions: true },
      { configure: (nest) => nest.useGlobalInterceptors(wrap) },
    );
    const page = await started.get('/locks', { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toMatch(/^<!doctype html>/);
    expect(await json(started, '/locks')).toMatchObject({ names: [], holdCount: 0 });
    expect(await json(started, '/locks/order:42')).toEqual({ held: [], pending: [] });
    const deleted = await json(started, '/locks/order:42', { method: 'DELETE', headers: ACTING });
    expect(deleted).toEqual({ released: false, holders: [] });
    const events = await started.get('/locks/events');
    expect(events.headers.get('content-type')).toBe('text/event-stream');
    await events.body?.cancel();
  });

  it('uses the global prefix and the version of the application', async () => {
    const started = await start(
      { public: true, path: 'admin/locks' },
      {
        configure: (nest) => {
          nest.setGlobalPrefix('api');
          nest.enableVersioning({ type: VersioningType.URI, defaultVersion: '2' });
        },
      },
    );
    expect((await started.get('/api/v2/admin/locks')).status).toBe(200);
    expect((await started.get('/api/v2/admin/locks/order%2F42')).status).toBe(200);
    expect((await started.get('/admin/locks')).status).toBe(404);
  });

  it('shows the holds of its process while Redis is unreachable', async () => {
    const started = await start();
    await using _ = await locksOf(started).acquire('held');
    await server.client().call('ACL', 'SETUSER', 'default', '-scan');
    try {
      const found = await json(started, '/locks');
      expect(found).toMatchObject({ names: [], isPart: true, holds: [{ name: 'held' }] });
      expect(found.trouble).toContain('NOPERM');
    } finally {
      await server.client().call('ACL', 'SETUSER', 'default', '+scan');
    }
  });

  it('remembers the holds that this process has lost', async () => {
    const started = await start();
    const held = await locksOf(started).acquire('lost');
    await locksOf(started).forceRelease('lost');
    await waitFor(() => !held.held);
    const { lost } = await json(started, '/locks');
    expect(lost).toMatchObject([
      { name: 'lost', reason: expect.stringMatching(/^(?:forced|gone)$/), fencingToken: held.fencingToken },
    ]);
  });

  it('looks at the module that its option names', async () => {
    const other = RedisLockModule.forRoot({ connection: server.url, keyPrefix: 'other:', name: 'other' });
    const started = await start({ public: true, module: 'other' }, {}, [other]);
    const held = await started.nest
      .get<LockService>('nest-redis-lock:LockService:other')
      .acquire('elsewhere');
    await using _ = await locksOf(started).acquire('hidden');
    expect((await json(started, '/locks')).names).toMatchObject([{ name: 'elsewhere' }]);
    await held.release();
  });

  describe('with actions', () => {
    const acting: LockInspectorOptions = { public: true, actions: true };

    it('releases forcibly', async () => {
      const started = await start(acting);
      const held = await locksOf(started).acquire('order/42');
      const answer = await started.get(encoded('order/42'), { method: 'DELETE', headers: ACTING });
      expect(await answer.json()).toEqual({ released: true, holders: [] });
      await waitFor(() => held.signal.aborted);
      const again = await started.get(named('order/42'), { method: 'DELETE', headers: ACTING });
      expect(await again.json()).toEqual({ released: false, holders: [] });
    });

    it.each([
      ['a form could send', {}],
      ['another site sends', { ...ACTING, 'sec-fetch-site': 'cross-site' }],
      ['a neighbour of the same domain sends', { ...ACTING, 'sec-fetch-site': 'same-site' }],
    ])('refuses what %s', async (_who, headers) => {
      const started = await start(acting);
      await using _ = await locksOf(started).acquire('order:42');
      expect((await started.get('/locks/order:42', { method: 'DELETE', headers })).status).toBe(403);
      expect((await locksOf(started).query('order:42')).held).toHaveLength(1);
    });

    it('releases only the intended holder', async () => {
      const started = await start(acting);
      const held = await locksOf(started).acquire('order:42');
      const [holder] = (await locksOf(started).query('order:42')).held;
      const path = (owner = '') => `/locks/order:42?owner=${encodeURIComponent(owner)}`;
      const init = { method: 'DELETE', headers: ACTING };
      const refused = await started.get(path('somebody:1'), init);
      expect(refused.status).toBe(409);
      expect(await refused.json()).toMatchObject({ message: `The lock is now held by ${holder?.owner}.` });
      expect((await locksOf(started).query('order:42')).held).toHaveLength(1);
      const released = await started.get(`${path('somebody:1')}&owner=${holder?.owner}`, init);
      expect(await released.json()).toEqual({ released: true, holders: [] });
      await waitFor(() => held.signal.aborted);
      expect(await (await started.get(path(holder?.owner), init)).json()).toMatchObject({
        message: 'The lock is now free.',
      });
    });

    it('leaves the next holder alone when two operators release the same one', async () => {
      const started = await start(acting);
      const held = await locksOf(started).acquire('order:42');
      const next = locksOf(started).acquire('order:42');
      const [holder] = (await locksOf(started).query('order:42')).held;
      const path = `/locks/order:42?owner=${holder?.owner}`;
      const released = await Promise.all(
        [1, 2].map(() => started.get(path, { method: 'DELETE', headers: ACTING })),
      );
      expect(new Set(released.map(({ status }) => status))).toEqual(new Set([200, 409]));
      const hold = await next;
      await expect(hold.extend()).resolves.not.toThrow();
      expect(held.held).toBe(false);
      await hold.release();
    });

    it('has no such route without them', async () => {
      const started = await start({ public: true });
      await using held = await locksOf(started).acquire('order:42');
      expect((await started.get('/locks/order:42', { method: 'DELETE', headers: ACTING })).status).toBe(404);
      expect(held.held).toBe(true);
    });
  });

  describe('as a stream of events', () => {
    const watched = () => channel('nest-redis-lock:acquire:start').hasSubscribers;

    /** A client that can leave, and can stop reading. */
    async function listen(started: HttpApplication) {
      const leaving = new AbortController();
      const answer = await started.get('/locks/events', {
        signal: leaving.signal,
        headers: { accept: 'text/event-stream' },
      });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      const ended = (async () => {
        for (;;) {
          const { done, value = '' } = (await reader?.read()) ?? { done: true };
          if (done) return;
          text += value;
        }
      })();
      ended.catch(() => {});
      return { answer, leave: () => leaving.abort(), ended, text: () => text };
    }

    it('publishes the events of locks', async () => {
      const started = await start();
      const client = await listen(started);
      expect(client.answer.headers.get('content-type')).toBe('text/event-stream');
      await locksOf(started).using('order:4</script>2', async () => {});
      await waitFor(() => client.text().includes('event: hold:released'));
      const granted = /event: acquire:granted\ndata: (.*)\n\n/.exec(client.text())?.[1] ?? '';
      expect(JSON.parse(granted)).toMatchObject({
        name: 'order:4</script>2',
        how: 'free',
      });
      client.leave();
    });

    it('listens to no more than lost holds when the last client has gone', async () => {
      const started = await start();
      expect(watched()).toBe(false);
      const clients = [await listen(started), await listen(started)];
      expect(watched()).toBe(true);
      clients[0]?.leave();
      clients[1]?.leave();
      await waitFor(() => !watched());
    });

    it('ends at shutdown, and holds nothing up', async () => {
      const started = await start();
      const client = await listen(started);
      const took = await unstalled(async () => {
        await started.nest.close();
        await client.ended;
      });
      expect(took).toBeLessThan(2_000);
      expect(watched()).toBe(false);
      expect(channel('nest-redis-lock:hold:lost').hasSubscribers).toBe(false);
    });

    it('drops and counts events that arrive too fast', async () => {
      const started = await start();
      const client = await listen(started);
      await Promise.all(
        Array.from({ length: 300 }, (_, index) => locksOf(started).using(`fast:${index}`, async () => {})),
      );
      await waitFor(() => client.text().includes('event: left-out'));
      client.leave();
    });
  });
});

describe('LockInspectorModule.forRoot', () => {
  it.each<[string, unknown]>([
    ['without guards', {}],
    ['with an empty list of guards', { guards: [] }],
    ['with public: false', { public: false }],
    ['with guards and public: true', { guards: [AdminGuard], public: true }],
    ['with what is no guard', { guards: ['admin'] }],
    ['with an unknown option', { public: true, guard: AdminGuard }],
    ['with an empty path', { public: true, path: '' }],
  ])('refuses to start %s', (_what, options) => {
    expect(() => LockInspectorModule.forRoot(options as LockInspectorOptions)).toThrow(
      expect.objectContaining({ code: 'LOCK_CONFIG' }),
    );
  });

  it('names the remedy', () => {
    expect(() => LockInspectorModule.forRoot({ guards: [] })).toThrow(/guards: \[AdminGuard\].*public: true/);
  });
});
