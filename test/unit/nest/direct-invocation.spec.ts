import {
  Controller,
  Get,
  Logger,
  Sse,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { InterceptorsConsumer } from '@nestjs/core/interceptors/interceptors-consumer.js';
import { ExpressAdapter } from '@nestjs/platform-express';
import { from, of, type Observable } from 'rxjs';
import { LockService, Locked } from '../../../lib/index.js';
import { LockInterceptor } from '../../../lib/nest/locked/lock.interceptor.js';
import { LockTestingModule } from '../../../lib/testing/index.js';
import { HttpApplication, platforms } from '../../e2e/support/http-application.js';
import { waitFor } from '../../support/wait-for.js';

class OtherInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Controller()
class OrdersController {
  constructor(private readonly locks: LockService) {}

  @Get('value')
  @Locked('order')
  async value(): Promise<string> {
    return String(this.locks.current('order')?.held);
  }

  @Get('stream')
  @Locked('order')
  stream(): Observable<string> {
    return from(['first', 'last']);
  }

  @Sse('events')
  @Locked('order')
  events(): Observable<{ data: string }> {
    return of({ data: 'one' });
  }

  @Get('with-another')
  @UseInterceptors(OtherInterceptor)
  @Locked('order')
  async withAnother(): Promise<string> {
    return 'with another';
  }

  @Get('loses')
  @Locked('order')
  async loses(): Promise<string> {
    const lock = this.locks.current('order');
    await this.locks.forceRelease('order');
    await lock?.extend().catch(() => {});
    await waitFor(() => lock?.held === false);
    return 'written';
  }

  @Get('unlocked')
  async unlocked(): Promise<string> {
    return 'unlocked';
  }
}

/** A Nest version that gives `intercept` other parameters, as far as the module can see. */
function otherNest(): () => void {
  const consumer: Record<string, unknown> = InterceptorsConsumer.prototype as object as never;
  const original = InterceptorsConsumer.prototype.intercept;
  consumer['intercept'] = function (this: unknown, ...parameters: never[]): unknown {
    return Reflect.apply(original, this, parameters);
  };
  return () => void (consumer['intercept'] = original);
}

// First in this file: afterwards the class is replaced for good.
describe.each([
  ['with a Nest version of another shape', {}, otherNest, [expect.stringContaining('directInvocation')]],
  ['with directInvocation: false', { directInvocation: false }, undefined, []],
])('a route %s', (_name, advanced, arrange, warnings) => {
  it('is served by the interceptor, and a warning at start says so unless the option does', async () => {
    const restore = arrange?.();
    const before = InterceptorsConsumer.prototype.intercept;
    const warn = jest.spyOn(Logger, 'warn').mockReturnValue();
    const intercepted = jest.spyOn(LockInterceptor.prototype, 'intercept');
    const app = await HttpApplication.start(new ExpressAdapter(), {
      imports: [LockTestingModule.forRoot({ advanced })],
      controllers: [OrdersController],
    });
    expect(await (await app.get('/value')).text()).toBe('true');
    expect(intercepted).toHaveBeenCalled();
    expect(InterceptorsConsumer.prototype.intercept).toBe(before);
    expect(warn.mock.calls.map(([message]) => String(message))).toEqual(warnings);
    await app.stop();
    intercepted.mockRestore();
    warn.mockRestore();
    restore?.();
  });
});

describe.each(platforms)('a route with no other interceptor on %s', (_name, adapter) => {
  let app: HttpApplication;
  let locks: LockService;
  let intercepted: jest.SpiedFunction<LockInterceptor['intercept']>;

  beforeAll(async () => {
    intercepted = jest.spyOn(LockInterceptor.prototype, 'intercept');
    app = await HttpApplication.start(adapter(), {
      imports: [LockTestingModule.forRoot()],
      controllers: [OrdersController],
    });
    locks = app.nest.get(LockService);
  });
  beforeEach(() => intercepted.mockClear());
  afterAll(async () => {
    await app.stop();
    intercepted.mockRestore();
  });

  const isFree = async (): Promise<boolean> => {
    const lock = await locks.tryAcquire('order');
    await lock?.release();
    return lock !== null;
  };

  it.each([
    ['/value', 'true'],
    ['/stream', 'last'],
    ['/unlocked', 'unlocked'],
  ])('is served without Nest’s path through interceptors (%s)', async (path, body) => {
    expect(await (await app.get(path)).text()).toBe(body);
    expect(intercepted).not.toHaveBeenCalled();
    await waitFor(isFree);
  });

  it.each([
    ['beside another one', '/with-another', 'with another'],
    ['for a stream of events, which may end before it has begun', '/events', 'data: one'],
  ])('is served that way %s', async (_case, path, body) => {
    expect(await (await app.get(path)).text()).toContain(body);
    expect(intercepted).toHaveBeenCalled();
    await waitFor(isFree);
  });

  it('fails with 500 if the hold is lost before the work ends', async () => {
    expect((await app.get('/loses')).status).toBe(500);
    expect(intercepted).not.toHaveBeenCalled();
  });
});
