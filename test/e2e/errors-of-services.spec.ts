import { once } from 'node:events';
import { join } from 'node:path';
import {
  Catch,
  Controller,
  Get,
  HttpException,
  Injectable,
  Logger,
  Param,
  UseFilters,
  UseGuards,
  type ArgumentsHost,
  type CanActivate,
  type ExceptionFilter,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import {
  InjectLockService,
  isLockError,
  Locked,
  LockError,
  LockService,
  LockTimeoutError,
  RedisLockModule,
  type Lock,
  type RedisLockModuleOptions,
} from '../../lib/index.js';
import { IN_VAIN } from '../contract/observe.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { printedBy, spawnTypeScript } from '../support/typescript-process.js';
import { HttpApplication, platforms } from './support/http-application.js';

const HELD = 'order:42';

@Injectable()
class Orders {
  @Locked(() => HELD, { wait: 0 })
  async pay(): Promise<string> {
    return 'paid';
  }

  @Locked(() => HELD, { wait: 10_000 })
  async payLater(): Promise<string> {
    return 'paid';
  }

  async payCaught(): Promise<string> {
    try {
      return await this.pay();
    } catch (error) {
      if (error instanceof LockTimeoutError) return `${error.name}: ${error.message}`;
      throw error;
    }
  }
}

@Injectable()
class PaidGuard implements CanActivate {
  constructor(private readonly orders: Orders) {}

  async canActivate(): Promise<boolean> {
    return (await this.orders.pay()) === 'paid';
  }
}

/** Has no locked method of its own. */
@Controller('plain')
class PlainController {
  constructor(private readonly orders: Orders) {}

  @Get('service')
  service(): Promise<string> {
    return this.orders.pay();
  }

  @Get('queue')
  queue(): Promise<string> {
    return this.orders.payLater();
  }

  @Get('guard')
  @UseGuards(PaidGuard)
  guarded(): string {
    return 'passed';
  }

  @Get('caught')
  caught(): Promise<string> {
    return this.orders.payCaught();
  }
}

@Controller('locked')
class LockedController {
  constructor(private readonly orders: Orders) {}

  @Get('method')
  @Locked(() => HELD, { wait: 0 })
  async method(): Promise<string> {
    return 'done';
  }

  @Get('service')
  @Locked('something else')
  service(): Promise<string> {
    return this.orders.pay();
  }

  @Get('guard')
  @UseGuards(PaidGuard)
  guarded(): string {
    return 'passed';
  }
}

const ROUTES = ['/plain/service', '/plain/guard', '/locked/method', '/locked/service', '/locked/guard'];

/** Answers with what it got. */
@Injectable()
abstract class TellingFilter implements ExceptionFilter {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(error: Error, host: ArgumentsHost): void {
    const told = {
      by: this.constructor.name,
      isLockError: isLockError(error) && error instanceof LockTimeoutError,
      status: error instanceof HttpException ? error.getStatus() : undefined,
      message: error.message,
      ...(isLockError(error) && { code: error.code, keys: error.keys }),
      ...(error instanceof LockTimeoutError && { waited: error.waited }),
    };
    this.adapterHost.httpAdapter.reply(host.switchToHttp().getResponse(), told, 418);
  }
}

@Catch(LockError)
class LockErrorFilter extends TellingFilter {}

@Catch(LockTimeoutError)
class LockTimeoutFilter extends TellingFilter {}

@Catch()
class EverythingFilter extends TellingFilter {}

@Catch(HttpException)
class HttpExceptionFilter extends TellingFilter {}

/** The `CatchEverythingFilter` of Nest's documentation. */
@Catch()
class DocumentedFilter implements ExceptionFilter {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const statusCode = exception instanceof HttpException ? exception.getStatus() : 500;
    this.adapterHost.httpAdapter.reply(host.switchToHttp().getResponse(), { statusCode }, statusCode);
  }
}

/** What `SentryGlobalFilter` of `@sentry/nestjs` does: reports what does not look like an expected HTTP error. */
@Catch()
class ReportingFilter extends BaseExceptionFilter {
  static readonly reported: unknown[] = [];

  override catch(exception: unknown, host: ArgumentsHost): void {
    if (!isExpectedError(exception)) ReportingFilter.reported.push(exception);
    // oxlint-disable-next-line promise/valid-params -- that of a filter, not of a promise
    super.catch(exception, host);
  }
}

function isExpectedError(exception: unknown): boolean {
  const { getStatus, getResponse, initMessage } = Object(exception) as Record<string, unknown>;
  return [getStatus, getResponse, initMessage].every((method) => typeof method === 'function');
}

describe.each(platforms)('a lock error of a service on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();
  let held: Lock;
  let logged: jest.SpiedFunction<Logger['error']>;

  beforeEach(() => {
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
  });
  afterEach(() => logged.mockRestore());

  /** An application whose lock somebody else has. */
  async function start(
    options: RedisLockModuleOptions = {},
    providers: readonly Provider[] = [],
    controllers: readonly Type[] = [PlainController, LockedController],
  ): Promise<HttpApplication> {
    const locks = RedisLockModule.forRoot({ connection: server.url, ...options });
    const metadata = { imports: [locks], controllers: [...controllers], providers: [Orders, ...providers] };
    const app = closing(await HttpApplication.start(adapter(), metadata));
    held = closing(await app.locks.acquire(HELD));
    return app;
  }

  it('is answered like an error of a locked controller, without a logged error', async () => {
    const application = await start();
    for (const route of ROUTES) {
      const response = await application.get(route);
      expect([route, response.status]).toEqual([route, 423]);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await response.json()).toEqual({
        statusCode: 423,
        message: 'The resource is in use, try again later',
        error: 'Locked',
      });
    }
    expect(logged).not.toHaveBeenCalled();
  });

  it('is answered with the status of the http option', async () => {
    const application = await start({ http: { LOCK_TIMEOUT: 409 } });
    for (const route of ROUTES) expect((await application.get(route)).status).toBe(409);
  });

  it('is left to Nest with http: false, which logs it and hides it', async () => {
    const application = await start({ http: false });
    for (const route of ROUTES) {
      const response = await application.get(route);
      expect(response.status).toBe(500);
      expect(await response.json()).toEqual({ statusCode: 500, message: 'Internal server error' });
    }
    expect(logged).toHaveBeenCalledTimes(ROUTES.length);
  });

  it('is a plain LockTimeoutError for filters of that class', async () => {
    expect(await (await (await start()).get('/plain/caught')).text()).toMatch(
      /^LockTimeoutError: Lock ".+" was not acquired within \d+ ms/,
    );
  });

  it.each([LockErrorFilter, LockTimeoutFilter, EverythingFilter])(
    'is answered by a filter of the application: %p',
    async (filter) => {
      const application = await start({ maxWaiters: 1 }, [{ provide: APP_FILTER, useClass: filter }]);
      for (const route of ROUTES) {
        const response = await application.get(route);
        expect([route, response.status, await response.json()]).toMatchObject([
          route,
          418,
          {
            by: filter.name,
            isLockError: true,
            code: 'LOCK_TIMEOUT',
            keys: [HELD],
            waited: expect.any(Number),
          },
        ]);
      }
    },
  );

  it.each([DocumentedFilter, ReportingFilter])(
    'has its status below a filter that catches everything: %p',
    async (filter) => {
      const application = await start({ maxWaiters: 1 }, [{ provide: APP_FILTER, useClass: filter }]);
      expect((await application.get('/plain/service')).status).toBe(423);
      expect((await application.get('/locked/service')).status).toBe(423);
      const waiting = application.locks.acquire(HELD);
      expect((await application.get('/plain/queue')).status).toBe(503);
      await held.release();
      await (await waiting).release();
      expect(ReportingFilter.reported).toEqual([]);
      expect(logged).not.toHaveBeenCalled();
    },
  );

  it('is answered by a filter of the controller', async () => {
    @Controller('filtered')
    @UseFilters(LockErrorFilter)
    class FilteredController extends PlainController {}
    const application = await start({}, [], [FilteredController]);
    expect((await application.get('/filtered/service')).status).toBe(418);
    expect((await application.get('/filtered/guard')).status).toBe(418);
  });

  it('is an HttpException for a global filter of those, like an error of a locked controller', async () => {
    const application = await start({}, [{ provide: APP_FILTER, useClass: HttpExceptionFilter }]);
    for (const route of ROUTES) {
      const response = await application.get(route);
      expect([route, await response.json()]).toMatchObject([
        route,
        { by: 'HttpExceptionFilter', status: 423, message: 'The resource is in use, try again later' },
      ]);
      expect(response.headers.get('retry-after')).not.toBeNull();
    }
  });
});

@Injectable()
class TwoModules {
  constructor(@InjectLockService('second') private readonly second: LockService) {}

  @Locked(() => HELD, { wait: 0 })
  async first(): Promise<void> {}

  @Locked(() => HELD, { wait: 0, module: 'second' })
  async locked(): Promise<void> {}

  async call(method: keyof typeof CALLS): Promise<void> {
    await CALLS[method](this.second);
  }
}

const CALLS = {
  using: (locks: LockService) => locks.using(HELD, { wait: 0 }, () => undefined),
  acquire: (locks: LockService) => locks.acquire(''),
  once: (locks: LockService) => locks.once('', { keep: 1_000 }, () => undefined),
  query: (locks: LockService) => locks.query(''),
  forget: (locks: LockService) => locks.forget(''),
  forceRelease: (locks: LockService) => locks.forceRelease(''),
  attach: (locks: LockService) => locks.attach('no such string'),
  list: async (locks: LockService) => {
    for await (const _ of locks.list({ limit: 0 }));
  },
  current: async (locks: LockService) => locks.current(''),
  lead: (locks: LockService) => locks.lead('', () => undefined),
  taken: (locks: LockService) => locks.acquire(HELD, { wait: 0 }),
  waited: (locks: LockService) => locks.acquire(HELD, { wait: IN_VAIN }),
  tried: (locks: LockService) => locks.tryAcquire(''),
  lost: (locks: LockService) =>
    locks.using('lost', async ({ signal }) => {
      await locks.forceRelease('lost');
      if (!signal.aborted) await once(signal, 'abort');
    }),
};

@Controller()
class TwoModulesController {
  constructor(private readonly modules: TwoModules) {}

  @Get('own/:method')
  async own(@Param('method') method: 'first' | 'locked'): Promise<void> {
    await this.modules[method]();
  }

  @Get('call/:method')
  async call(@Param('method') method: keyof typeof CALLS): Promise<void> {
    await this.modules.call(method);
  }
}

describe.each(platforms)('with two modules on %s, the error of a service', (_name, adapter) => {
  it('is answered with the status of its own module', async () => {
    await using server = await RedisServer.start();
    const [first, second] = [
      { LOCK_TIMEOUT: 409 },
      { LOCK_TIMEOUT: 429, LOCK_KEY: 422, LOCK_LOST: 410, LOCK_CONFIG: 501 },
    ];
    const app = await HttpApplication.start(adapter(), {
      imports: [
        RedisLockModule.forRoot({ connection: server.url, http: first }),
        RedisLockModule.forRoot({ connection: server.url, http: second, name: 'second' }),
      ],
      controllers: [TwoModulesController],
      providers: [TwoModules],
    });
    const held = await app.nest.get(LockService).acquire(HELD);
    const statuses: Record<string, number> = {};
    for (const path of ['own/first', 'own/locked', ...Object.keys(CALLS).map((method) => `call/${method}`)])
      statuses[path] = (await app.get(`/${path}`)).status;
    await held.release();
    await app.stop();
    expect(statuses).toEqual({
      'own/first': 409,
      'own/locked': 429,
      'call/using': 429,
      'call/acquire': 422,
      'call/once': 422,
      'call/query': 422,
      'call/forget': 422,
      'call/forceRelease': 422,
      'call/attach': 422,
      'call/list': 501,
      'call/current': 422,
      'call/lead': 422,
      'call/taken': 429,
      'call/waited': 429,
      'call/tried': 422,
      'call/lost': 410,
    });
  });
});

it('reports the rejection of an acquire that a handler does not await', async () => {
  const child = spawnTypeScript(join(__dirname, 'support/unawaited-acquire.script.ts'));
  const { output } = await printedBy(child);
  expect(output).toMatch(/^unhandled LockTimeoutError: Lock "order" was not acquired/);
});
