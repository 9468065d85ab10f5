import { Controller, Get, Injectable, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { concatMap, of, type Observable } from 'rxjs';
import {
  CurrentLock,
  getLockServiceToken,
  InjectLockService,
  Locked,
  LockService,
  RedisLockModule,
} from '../../../lib/index.js';
import type { Lock } from '../../../lib/index.js';
import { Gate } from '../../e2e/support/gate.js';
import { HttpApplication } from '../../e2e/support/http-application.js';
import { waitFor } from '../../support/wait-for.js';

/** The lock of the last call. */
class Latest {
  lock: Lock | undefined;
}

/** Commits after the handler, and loses the lock of the handler meanwhile. */
@Injectable()
class LosingInterceptor implements NestInterceptor {
  constructor(
    @InjectLockService('orders') private readonly locks: LockService,
    private readonly latest: Latest,
  ) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(concatMap((value) => this.commit(value)));
  }

  private async commit(value: unknown): Promise<unknown> {
    await this.locks.forceRelease('order');
    await waitFor(() => this.latest.lock?.signal.aborted);
    return value;
  }
}

@Controller()
class OrdersController {
  late: Promise<string> | undefined;

  constructor(
    private readonly latest: Latest,
    private readonly gate: Gate,
  ) {}

  @Get('promise')
  @UseInterceptors(LosingInterceptor)
  @Locked('order', { module: 'orders' })
  async promise(@CurrentLock() lock?: Lock): Promise<string> {
    this.latest.lock = lock;
    return 'done';
  }

  @Get('observable')
  @UseInterceptors(LosingInterceptor)
  @Locked('order', { module: 'orders' })
  observable(@CurrentLock() lock?: Lock): Observable<string> {
    this.latest.lock = lock;
    return of('done');
  }

  @Get('null')
  @Locked('null', { module: 'orders' })
  async nothing(): Promise<null> {
    return null;
  }

  @Get('again')
  @Locked('order', { module: 'orders' })
  async again(): Promise<string> {
    this.late ??= this.gate.pass().then(() => this.again());
    return 'done';
  }
}

describe('a locked route', () => {
  let app: HttpApplication;
  let locks: LockService;

  beforeAll(async () => {
    app = await HttpApplication.start(new ExpressAdapter(), {
      imports: [
        RedisLockModule.forRoot({ connection: 'memory' }),
        RedisLockModule.forRoot({ connection: 'memory', name: 'orders', http: { LOCK_LOST: 409 } }),
      ],
      controllers: [OrdersController],
      providers: [Gate, Latest],
    });
    locks = app.nest.get(getLockServiceToken('orders'));
  });
  afterAll(() => app.stop());

  it.each(['promise', 'observable'])(
    'fails with the status of its module if the hold is lost before the commit: %s',
    async (path) => {
      expect((await app.get(`/${path}`)).status).toBe(409);
    },
  );

  it('may return null', async () => {
    const response = await app.get('/null');
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('leaves a call of its method after the reply with its own hold, which ends before the call', async () => {
    expect(await (await app.get('/again')).text()).toBe('done');
    const releasing = new Gate();
    const order: string[] = [];
    const acquire = locks.acquire.bind(locks);
    jest.spyOn(locks, 'acquire').mockImplementationOnce(async (...args): Promise<Lock> => {
      const lock = await acquire(...args);
      const release = lock.release.bind(lock);
      return Object.defineProperty(lock, 'release', {
        value: async () => {
          order.push('releasing');
          await releasing.pass();
          await release();
          order.push('released');
        },
      });
    });
    const { late } = app.nest.get(OrdersController);
    const result = late?.then((text) => order.push(text));
    app.nest.get(Gate).open();
    await waitFor(() => releasing.arrived > 0);
    releasing.open();
    await result;
    expect(order).toEqual(['releasing', 'released', 'done']);
  });
});
