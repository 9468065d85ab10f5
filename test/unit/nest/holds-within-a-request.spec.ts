import { setTimeout as delay } from 'node:timers/promises';
import {
  Controller,
  Get,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { defer, from, lastValueFrom, map, type Observable } from 'rxjs';
import { CurrentLock, Locked, LockService, RedisLockModule, type Lock } from '../../../lib/index.js';
import { HttpApplication } from '../../e2e/support/http-application.js';
import { Journal } from '../../e2e/support/journal.js';
import { RetryInterceptor } from '../../e2e/support/retry.interceptor.js';
import { waitFor } from '../../support/wait-for.js';

/** Holds the lock of the handler around it, and commits under it. */
@Injectable()
class LockingInterceptor implements NestInterceptor {
  constructor(
    private readonly locks: LockService,
    private readonly journal: Journal,
  ) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const work = async (lock: Lock): Promise<unknown> => {
      const value: unknown = await lastValueFrom(next.handle());
      this.journal.write(`commit, ${lock.held ? 'held' : 'free'}`);
      return value;
    };
    return defer(() => this.locks.using('order', work));
  }
}

abstract class Orders {
  constructor(protected readonly locks: LockService) {}

  @Locked('order')
  async override(): Promise<string> {
    return 'done';
  }

  @Locked('part')
  async part(): Promise<string> {
    return 'done';
  }

  @Locked('order')
  async passedOn(): Promise<string> {
    return 'done';
  }
}

@Controller()
class OrdersController extends Orders {
  private attempts = 0;

  constructor(locks: LockService) {
    super(locks);
  }

  @Get('promise')
  @UseInterceptors(LockingInterceptor)
  @Locked('order')
  async promise(): Promise<string> {
    return 'done';
  }

  @Get('observable')
  @UseInterceptors(LockingInterceptor)
  @Locked('order')
  observable(): Observable<string> {
    return from(delay(1)).pipe(map(() => 'done'));
  }

  @Get('several')
  @UseInterceptors(LockingInterceptor)
  @Locked(['order', 'stock'])
  async several(): Promise<string> {
    return 'done';
  }

  @Get('retried')
  @UseInterceptors(LockingInterceptor, RetryInterceptor)
  @Locked(['order', 'stock'])
  async retried(): Promise<string> {
    this.attempts += 1;
    if (this.attempts % 2 === 1) throw new Error('deadlock found when trying to get lock');
    return 'done';
  }

  @Get('override')
  override override(): Promise<string> {
    return this.locks.using('order', () => super.override());
  }

  @Get('released')
  @Locked((depth = 0) => `depth:${depth}`)
  async released(depth = 0, @CurrentLock() lock?: Lock): Promise<string> {
    await lock?.release();
    return depth === 2 ? 'done' : this.released(depth + 1);
  }

  @Get('detached')
  @Locked((depth = 0) => `depth:${depth}`)
  async detached(depth = 0, @CurrentLock() lock?: Lock): Promise<string> {
    await using _ = await this.locks.attach((await lock?.detach()) ?? '');
    return depth === 2 ? 'done' : this.detached(depth + 1);
  }

  @Get('passed-on')
  @Locked('order')
  override async passedOn(@CurrentLock() lock?: Lock): Promise<string> {
    const result = await super.passedOn();
    await using _ = await this.locks.attach((await lock?.detach()) ?? '');
    return result;
  }

  @Get('part')
  @Locked('whole')
  override async part(@CurrentLock() lock?: Lock): Promise<string> {
    await lock?.release();
    return super.part();
  }
}

describe('a request', () => {
  let app: HttpApplication;
  let locks: LockService;
  let journal: Journal;

  beforeAll(async () => {
    app = await HttpApplication.start(new ExpressAdapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory', wait: 500, shutdownTimeout: 100 })],
      controllers: [OrdersController],
      providers: [Journal],
    });
    locks = app.nest.get(LockService);
    journal = app.nest.get(Journal);
  });
  beforeEach(() => void journal.lines.splice(0));
  afterAll(() => app.stop());

  /** A request that waits for itself would never get its reply. */
  async function expectDone(path: string): Promise<void> {
    const response = await app.get(path, { signal: AbortSignal.timeout(4_000) });
    expect(await response.text()).toBe('done');
    await waitFor(() => locks.holds().length === 0);
  }

  it.each(['/promise', '/observable', '/several', '/retried'])(
    'ends if an interceptor holds the lock of its handler around it: %s',
    async (path) => {
      await expectDone(path);
      expect(journal.lines).toEqual(['commit, held']);
    },
  );

  it('ends if an override holds the lock of the method that it overrides around it', async () => {
    await expectDone('/override');
  });

  it.each(['/released', '/detached', '/part'])(
    'ends if its handler calls a locked method of its own after the end of its hold: %s',
    expectDone,
  );

  it('ends if its handler detaches its hold after the method that it overrides, of the same name', async () => {
    await expectDone('/passed-on');
  });
});
