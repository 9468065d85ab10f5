import {
  Controller,
  Get,
  Injectable,
  Scope,
  UseInterceptors,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { concatMap, forkJoin, from, lastValueFrom, map, type Observable } from 'rxjs';
import { Locked, LockService, Once, RedisLockModule } from '../../../lib/index.js';
import { CriticalSection } from '../../e2e/places/support/critical-section.js';
import { HttpApplication, platforms } from '../../e2e/support/http-application.js';
import { interceptorOf } from '../../e2e/support/interceptor.js';
import { waitFor } from '../../support/wait-for.js';

/** Milliseconds within which no call may give up its wait. */
const WAIT = 20_000;

/** Works under the name of its handler, after it. */
const UsingAfterInterceptor = interceptorOf(
  (next, locks) => next.handle().pipe(concatMap((value) => locks.using('order', () => value))),
  LockService,
);

const AcquireAfterInterceptor = interceptorOf(
  (next, locks) =>
    next.handle().pipe(
      concatMap(async (value) => {
        await using _ = await locks.acquire(['another', 'order']);
        return value;
      }),
    ),
  LockService,
);

/** Works under the name of its handler at the same time. */
const BesideInterceptor = interceptorOf(
  (next, locks, section) => {
    // After the handler has asked for the lock.
    const audit = async (): Promise<void> => {
      await waitFor(() => locks.holds().length > 0);
      await locks.using('order', () => section.run());
    };
    return forkJoin([next.handle(), from(audit())]).pipe(map(([value]) => value));
  },
  LockService,
  CriticalSection,
);

/** Works under the name of its handler, around it and after it. */
const AroundInterceptor = interceptorOf(
  (next, locks) =>
    from(
      locks.using('order', async () => {
        const value = await lastValueFrom(next.handle());
        return locks.using('order', () => value);
      }),
    ),
  LockService,
);

@Injectable()
class OrdersBase {
  constructor(
    protected readonly locks: LockService,
    private readonly section: CriticalSection,
  ) {}

  async work(): Promise<string> {
    await this.section.run();
    return 'done';
  }

  @Locked('order')
  async overridden(): Promise<string> {
    return this.work();
  }

  @Locked('order')
  async afterSuper(): Promise<string> {
    return this.work();
  }

  @Locked('order')
  async besideSuper(): Promise<string> {
    return this.work();
  }
}

/** The kinds of handlers below an interceptor. */
function controllerBelow(interceptor: Type<NestInterceptor>, scope: Scope, isDurable: boolean): Type {
  @Controller({ scope, durable: isDurable })
  @UseInterceptors(interceptor)
  class OrdersController extends OrdersBase {
    @Get('promise')
    @Locked('order')
    async promise(): Promise<string> {
      return this.work();
    }

    @Get('observable')
    @Locked('order')
    observable(): Observable<string> {
      return from(this.work());
    }

    @Get('promised-observable')
    @Locked('order')
    async promisedObservable(): Promise<Observable<string>> {
      return from(this.work());
    }

    @Get('once')
    @Once('order', { keep: '1ms' })
    async once(): Promise<string> {
      return this.work();
    }

    @Get('several')
    @Locked(['another', 'order'])
    async several(): Promise<string> {
      return this.work();
    }

    @Get('after-super')
    @Locked('whole')
    override async afterSuper(): Promise<string> {
      await super.afterSuper();
      return this.locks.using('order', () => this.work());
    }

    @Get('beside-super')
    @Locked('whole')
    override async besideSuper(): Promise<string> {
      const [done] = await Promise.all([super.besideSuper(), this.locks.using('order', () => this.work())]);
      return done;
    }

    @Get('overridden')
    @Locked('whole')
    override async overridden(): Promise<string> {
      return super.overridden();
    }
  }
  return OrdersController;
}

const HANDLERS = [
  'promise',
  'observable',
  'promised-observable',
  'once',
  'several',
  'overridden',
  'after-super',
  'beside-super',
];

describe.each(platforms)('An interceptor on %s that locks the name of its handler', (_name, adapter) => {
  let app: HttpApplication;

  afterEach(() => app.stop());

  async function start(controller: Type): Promise<void> {
    app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory', wait: WAIT })],
      controllers: [controller],
      providers: [CriticalSection],
    });
  }

  const interceptors = [UsingAfterInterceptor, AcquireAfterInterceptor, BesideInterceptor, AroundInterceptor];
  const scopes: [string, Scope, boolean][] = [
    ['singleton', Scope.DEFAULT, false],
    ['request-scoped', Scope.REQUEST, false],
    ['durable', Scope.REQUEST, true],
  ];
  const kinds = interceptors.flatMap((interceptor) =>
    scopes.map(([scope, ...given]) => [interceptor.name, scope, interceptor, ...given] as const),
  );

  it.each(kinds)(
    'does not wait for its own request: %s, %s',
    async (_kind, _scope, interceptor, ...scope) => {
      await start(controllerBelow(interceptor, ...scope));
      for (const path of HANDLERS) {
        const requests = [1, 2].map(() => app.get(`/${path}`, { signal: AbortSignal.timeout(4_000) }));
        for (const response of await Promise.all(requests))
          expect([path, await response.text()]).toEqual([path, 'done']);
      }
      expect(app.nest.get(CriticalSection)).toMatchObject({ most: 1 });
      await waitFor(() => app.nest.get(LockService).holds().length === 0);
    },
  );
});
