import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import {
  concatMap,
  defer,
  forkJoin,
  from,
  last,
  lastValueFrom,
  map,
  mergeAll,
  Observable,
  of,
  repeat,
  shareReplay,
  switchMap,
} from 'rxjs';
import { CallbackPool } from './callback-pool.js';
import { Journal } from './journal.js';

const transactions = new AsyncLocalStorage<object>();

/** An interceptor that opens a transaction before the handler, and commits it some time after the handler. */
@Injectable()
export abstract class ShapeInterceptor implements NestInterceptor {
  constructor(private readonly journal: Journal) {}

  abstract intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>>;

  protected async begin(): Promise<void> {
    await nextTurn();
  }

  protected async commit<T>(value: T): Promise<T> {
    await delay(10);
    this.journal.write('commit');
    return value;
  }

  /** The handler, and the commit after it. */
  protected committed(next: CallHandler): Observable<unknown> {
    return next.handle().pipe(concatMap((value) => this.commit(value)));
  }
}

@Injectable()
class FromPromise extends ShapeInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return from(this.begin()).pipe(switchMap(() => this.committed(next)));
  }
}

@Injectable()
class Deferred extends ShapeInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return defer(async () => {
      await this.begin();
      return this.committed(next);
    }).pipe(mergeAll());
  }
}

@Injectable()
class InOwnStorage extends ShapeInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return new Observable((subscriber) =>
      transactions.run({}, () => this.committed(next).subscribe(subscriber)),
    );
  }
}

@Injectable()
class InAnotherTick extends ShapeInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return new Observable((subscriber) => {
      setImmediate(() => subscriber.add(this.committed(next).subscribe(subscriber)));
    });
  }
}

@Injectable()
class Awaiting extends ShapeInterceptor {
  async intercept(_context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    await this.begin();
    const value: unknown = await lastValueFrom(next.handle());
    return of(await this.commit(value));
  }
}

@Injectable()
class Shared extends ShapeInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const shared = next.handle().pipe(shareReplay(1));
    return shared.pipe(
      concatMap(() => shared),
      concatMap((value) => this.commit(value)),
    );
  }
}

@Injectable()
class FromPool extends ShapeInterceptor {
  constructor(
    journal: Journal,
    private readonly pool: CallbackPool,
  ) {
    super(journal);
  }

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return new Observable((subscriber) => {
      this.pool.take(() => {
        setImmediate(() => this.pool.giveBack());
        subscriber.add(this.committed(next).subscribe(subscriber));
      });
    });
  }
}

/** The handler gives the connection back, so the next request begins inside the lock of this one. */
@Injectable()
export class FromPoolOfHandlers extends ShapeInterceptor {
  constructor(
    journal: Journal,
    private readonly pool: CallbackPool,
  ) {
    super(journal);
  }

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return new Observable((subscriber) => {
      this.pool.take(() => subscriber.add(this.committed(next).subscribe(subscriber)));
    });
  }
}

@Injectable()
class Repeating extends ShapeInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      repeat(2),
      last(),
      concatMap((value) => this.commit(value)),
    );
  }
}

@Injectable()
class InParallel extends ShapeInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return forkJoin([next.handle(), next.handle()]).pipe(
      map(([first]) => first),
      concatMap((value) => this.commit(value)),
    );
  }
}

export type Shape = new (journal: Journal, pool: CallbackPool) => ShapeInterceptor;

/** Interceptors that call the handler once, by the way in which they do. */
export const onceCalling: [name: string, shape: Shape][] = [
  ['after a Promise, with from() and switchMap()', FromPromise],
  ['after an async function, with defer()', Deferred],
  ['in an AsyncLocalStorage of its own', InOwnStorage],
  ['in another tick', InAnotherTick],
  ['in an async intercept(), and awaits it', Awaiting],
  ['through shareReplay()', Shared],
  ['in the callback of a pool, in the context of another request', FromPool],
];

/** Interceptors that call the handler twice. */
export const twiceCalling: [name: string, shape: Shape][] = [
  ['again with repeat()', Repeating],
  ['twice at the same time', InParallel],
];
