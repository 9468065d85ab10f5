import {
  Controller,
  createParamDecorator,
  Get,
  HttpException,
  Logger,
  Param,
  Query,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { firstValueFrom, throwError } from 'rxjs';
import type { HttpAdapterHost } from '@nestjs/core';
import {
  LockClosedError,
  LockConfigError,
  LockDeadlockError,
  LockKeyError,
  LockLostError,
  LockQueueFullError,
  LockService,
  LockTimeoutError,
  LockUnavailableError,
  Locked,
  RedisLockModule,
  type LockError,
  type RedisLockModuleOptions,
} from '../../lib/index.js';
import { LockInterceptor } from '../../lib/nest/locked/lock.interceptor.js';
import { createLockService } from '../../lib/nest/module/lock-module.definition.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';

const keys = ['order:42'];
const failures: Record<string, LockError> = {
  key: new LockKeyError('OrdersController.pay: <0> of order:<0> is undefined', { keys }),
  timeout: new LockTimeoutError('order:42 is held by host-1-a:7', {
    keys,
    waited: 10,
    holder: { owner: 'host-1-a:7', remaining: 4_100 },
  }),
  unknown: new LockTimeoutError('order:42 is held', { keys, waited: 4_100 }),
  late: new LockTimeoutError('order:42 is held', { keys, waited: 60_000 }),
  deadlock: new LockDeadlockError('this call holds order:1 and would wait for order:42', { keys }),
  full: new LockQueueFullError('10000 callers wait for order:42', { keys }),
  unavailable: new LockUnavailableError('connect ECONNREFUSED', { keys }),
  lost: new LockLostError('order:42 was lost', { keys }),
  closed: new LockClosedError('shutting down', { keys }),
  config: new LockConfigError('OrdersController.pay finds no LockService', { keys }),
};

@Controller()
class FailingController {
  @Get('locked/:key')
  @Locked('order:<0>')
  async locked(@Param('key') key: string): Promise<string> {
    return key;
  }

  @Get('throws/:failure')
  async throws(@Param('failure') failure: string): Promise<void> {
    throw failures[failure] ?? new Error('unknown failure');
  }
}

/** An entity whose properties throw until it is loaded. It is no Promise. */
const Unloaded = createParamDecorator(() => {
  const get = (_entity: object, key: string | symbol): undefined => {
    if (key !== 'then') throw new Error('it is not loaded');
  };
  return new Proxy({}, { get });
});

/** A template of its own for each platform, for messages are logged once in a process. */
function controllerWith(template: string): Type {
  @Controller('orders')
  class OrdersController {
    @Get()
    @Locked(template)
    async find(@Query() _query: unknown): Promise<void> {}

    @Get(':id')
    @Locked(template.replace('<0', '<1'))
    async findById(@Query() _query: unknown, @Param('_id') _id: unknown): Promise<void> {}

    @Get(':id/unloaded')
    @Locked(template)
    async unloaded(@Unloaded() _entity: unknown): Promise<void> {}
  }
  return OrdersController;
}

describe.each(platforms)('lock errors over HTTP on %s', (name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  async function start(
    options: RedisLockModuleOptions = {},
    controller: Type = FailingController,
  ): Promise<HttpApplication> {
    const app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url, ...options })],
      controllers: [controller],
    });
    return closing(app);
  }

  it('answers each error with its status, without holder, name and method', async () => {
    const application = await start();
    for (const [failure, status, error, retryAfter] of [
      ['key', 400, 'Bad Request', null],
      ['timeout', 423, 'Locked', '1'],
      ['unknown', 423, 'Locked', '5'],
      ['late', 423, 'Locked', '10'],
      ['deadlock', 500, 'Internal Server Error', null],
      ['full', 503, 'Service Unavailable', '1'],
      ['unavailable', 503, 'Service Unavailable', null],
      ['lost', 500, 'Internal Server Error', null],
      ['closed', 503, 'Service Unavailable', '1'],
      ['config', 500, 'Internal Server Error', null],
    ] as const) {
      const response = await application.get(`/throws/${failure}`);
      expect([failure, response.status]).toEqual([failure, status]);
      expect([failure, response.headers.get('retry-after')]).toEqual([failure, retryAfter]);
      const body = (await response.json()) as object;
      expect(body).toEqual({ statusCode: status, message: expect.any(String), error });
      expect(JSON.stringify(body)).not.toMatch(/order|host|Controller|<0>|ECONN|10000/);
    }
  });

  it('logs an invalid key once for each method and cause, with details that the client does not see', async () => {
    const warn = jest.spyOn(Logger, 'warn').mockImplementation();
    const app = await start({}, controllerWith(`order:<0.${name}>`));
    for (const path of ['/orders', '/orders', '/orders/7', '/orders/8', `/orders?${name}=`]) {
      const response = await app.get(path);
      expect(response.status).toBe(400);
      expect(await response.text()).not.toContain(name);
    }
    const advice = 'Clients do not see this message; it is logged once.';
    const of = (method: string, problem: string): unknown[] => [
      expect.stringMatching(new RegExp(`^OrdersController\\.${method}: ${problem}; .*\\. ${advice}$`)),
      'RedisLock',
    ];
    const template = (argument: number): string =>
      `<${argument}.${name}> of key template "order:<${argument}.${name}>"`;
    expect(warn.mock.calls).toEqual([
      of('find', `${template(0)} is undefined`),
      of('findById', `${template(1)} cannot be filled in, for <1> is undefined`),
      of('find', `${template(0)} is an empty string`),
    ]);
    warn.mockRestore();
  });

  it('logs why an argument cannot be read, once', async () => {
    const warn = jest.spyOn(Logger, 'warn').mockImplementation();
    const app = await start({}, controllerWith(`unloaded:<0.${name}>`));
    for (const path of ['/orders/7/unloaded', '/orders/8/unloaded'])
      expect((await app.get(path)).status).toBe(400);
    const message =
      `OrdersController.unloaded: a value for key template "unloaded:<0.${name}>" cannot be read, because an accessor or a ` +
      'Proxy throws. (Error: it is not loaded) Clients do not see this message; it is logged once.';
    expect(warn.mock.calls).toEqual([[message, 'RedisLock']]);
    warn.mockRestore();
  });

  it('answers a lock that is taken with 423 and Retry-After', async () => {
    const application = await start({ wait: 0 });
    await using _ = await application.nest.get(LockService).acquire('order:1', { ttl: 300_000 });
    const response = await application.get('/locked/1');
    expect(response.status).toBe(423);
    expect(response.headers.get('retry-after')).toBe('1');
  });

  it('shows no client the label of the holder', async () => {
    const application = await start({ wait: 0 });
    const locks = createLockService(resolveModuleOptions({ connection: server.url }));
    const lock = await locks.acquire('order:1', { label: 'secret of the holder' });
    const own = application.nest.get(LockService);
    // A holder that is too busy to answer in 120 ms is asked again after ten seconds.
    await waitFor(
      async () => {
        const error: unknown = await own.acquire('order:1').catch((reason: unknown) => reason);
        return (error as LockTimeoutError).holder?.label === 'secret of the holder';
      },
      { timeout: 25_000, that: 'the holder to say what it calls itself' },
    );
    const response = await application.get('/locked/1');

    expect(response.status).toBe(423);
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain('secret');
    await lock.release();
    await locks.close();
  });

  it.each([
    ['how long a lease runs that its holder here does not renew', true, [10, 20]],
    ['the wait of the caller, because it does not know whether another process renews', false, [0, 1]],
  ])('advises to retry after %s', async (_what, isHere, [above = 0, most]) => {
    const application = await start({ wait: 0, renew: false });
    const locks = isHere
      ? application.nest.get(LockService)
      : createLockService(resolveModuleOptions({ connection: server.url }));
    const lock = await locks.acquire('order:1', { ttl: 20_000, renew: false });
    const seconds = Number((await application.get('/locked/1')).headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(above);
    expect(seconds).toBeLessThanOrEqual(most ?? above);
    await lock.release();
    await locks.close();
  });

  it('uses the statuses of the http option, and the defaults for the rest', async () => {
    const application = await start({ http: { LOCK_TIMEOUT: 409 } });
    const conflict = await application.get('/throws/timeout');
    expect(conflict.status).toBe(409);
    expect(await conflict.json()).toMatchObject({ statusCode: 409, error: 'Conflict' });
    expect(conflict.headers.get('retry-after')).toBe('1');
    expect((await application.get('/throws/unavailable')).status).toBe(503);
  });

  it('leaves lock errors to the application with http: false', async () => {
    const application = await start({ http: false });
    const response = await application.get('/throws/timeout');
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ statusCode: 500, message: 'Internal server error' });
    expect(response.headers.get('retry-after')).toBeNull();
  });
});

describe('lock errors in the interceptor', () => {
  const failing = (): void => undefined;

  function errorThrough(type: string, error: unknown): Promise<unknown> {
    const setHeader = jest.fn();
    const adapterHost = {
      httpAdapter: { setHeader, isHeadersSent: () => false },
    } as unknown as HttpAdapterHost;
    const context = {
      getType: () => type,
      getArgs: () => [],
      getClass: () => Object,
      getHandler: () => failing,
      switchToHttp: () => ({ getResponse: () => ({ setHeader }) }),
    } as unknown as ExecutionContext;
    const handled = new LockInterceptor(adapterHost).intercept(context, {
      handle: () => throwError(() => error),
    });
    return firstValueFrom(handled).catch((caught: unknown) => caught);
  }

  it('become the cause of an HttpException in HTTP', async () => {
    const caught = await errorThrough('http', failures['timeout']);
    expect(caught).toBeInstanceOf(HttpException);
    expect((caught as HttpException).cause).toBe(failures['timeout']);
  });

  it.each(['rpc', 'ws', 'telegraf'])('stay as they are in %s', async (type) => {
    expect(await errorThrough(type, failures['timeout'])).toBe(failures['timeout']);
  });

  it.each(Object.entries(failures))('become the cause of a GraphQL error: %s', async (_name, failure) => {
    const caught = (await errorThrough('graphql', failure)) as Error & { extensions: object };
    expect(caught.cause).toBe(failure);
    expect(caught.extensions).toMatchObject({ code: failure.code, http: { status: expect.any(Number) } });
    expect(caught.message).not.toMatch(/order|host|Controller|<0>|ECONN|10000/);
  });

  it.each(['lost', 'config', 'deadlock'])('are logged if they are unexpected: %s', async (name) => {
    for (const type of ['http', 'graphql']) {
      const error = jest.spyOn(Logger, 'error').mockImplementation();
      await errorThrough(type, failures[name]);
      expect(error).toHaveBeenCalledWith(failures[name]?.message, failures[name]?.stack, 'RedisLock');
      error.mockRestore();
    }
  });
});
