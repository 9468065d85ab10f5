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
import { concatMap, from, map, Observable } from 'rxjs';
import { Locked, RedisLockModule } from '../../lib/index.js';
import { RedisServer } from '../support/redis-server.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { Journal } from './support/journal.js';

/**
 * A pool of one connection that calls back when it is free. As with pools that do not use AsyncResource, the callback of
 * a waiting caller runs in the async context of the caller that returns the connection.
 */
@Injectable()
class CallbackPool {
  private isTaken = false;
  private readonly waiting: (() => void)[] = [];

  take(callback: () => void): void {
    if (this.isTaken) this.waiting.push(callback);
    else {
      this.isTaken = true;
      callback();
    }
  }

  giveBack(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.isTaken = false;
    else next();
  }
}

/** Calls the handler in the callback of the pool, and commits some time after it. */
@Injectable()
class PoolInterceptor implements NestInterceptor {
  constructor(
    private readonly journal: Journal,
    private readonly pool: CallbackPool,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return new Observable((subscriber) => {
      this.pool.take(() => {
        if (context.getHandler().name !== 'returning') setImmediate(() => this.pool.giveBack());
        const committed = next.handle().pipe(
          concatMap(async (value: unknown) => {
            await delay(10);
            this.journal.write('commit');
            return value;
          }),
        );
        subscriber.add(committed.subscribe(subscriber));
      });
    });
  }
}

@Controller()
@UseInterceptors(PoolInterceptor)
class OrdersController {
  constructor(
    private readonly journal: Journal,
    private readonly pool: CallbackPool,
  ) {}

  @Get('promise')
  @Locked('order')
  async promise(): Promise<string> {
    this.journal.write('begin');
    await delay(2);
    return 'done';
  }

  @Get('several')
  @Locked(['order', 'stock'])
  several(): Promise<string> {
    return this.promise();
  }

  @Get('skipping')
  @Locked('order', { onTimeout: 'skip' })
  async skipping(): Promise<string | undefined> {
    return this.promise();
  }

  @Get('observable')
  @Locked('order')
  observable(): Observable<string> {
    this.journal.write('begin');
    return from(delay(2)).pipe(map(() => 'done'));
  }

  /** Returns the connection itself, so the next request begins inside the lock of this one. */
  @Get('returning')
  @Locked('order')
  async returning(): Promise<string> {
    this.journal.write('begin');
    this.pool.giveBack();
    await delay(2);
    return 'done';
  }
}

const CLIENTS = 5;

// test/compositions has the interceptors that call the handler in the context of their own request.
describe.each(platforms)(
  'an interceptor on %s that calls the handler in the context of another request',
  (_, adapter) => {
    it('keeps the lock until its commit', async () => {
      await using server = await RedisServer.start();
      await using app = await HttpApplication.start(adapter(), {
        imports: [RedisLockModule.forRoot({ connection: server.url, wait: 3_000 })],
        controllers: [OrdersController],
        providers: [Journal, CallbackPool],
      });
      const { lines } = app.nest.get(Journal);
      for (const path of ['promise', 'several', 'skipping', 'observable', 'returning']) {
        const answers = Array.from({ length: CLIENTS }, async () => (await app.get(`/${path}`)).text());
        expect(await Promise.all(answers)).toEqual(Array.from({ length: CLIENTS }, () => 'done'));
        expect([path, lines.splice(0)]).toEqual([
          path,
          Array.from({ length: CLIENTS }, () => ['begin', 'commit']).flat(),
        ]);
      }
    });
  },
);
