import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import {
  concatMap,
  defer,
  finalize,
  forkJoin,
  from,
  lastValueFrom,
  map,
  Observable,
  of,
  repeat,
  retry,
  shareReplay,
  switchMap,
  takeLast,
  timeout,
} from 'rxjs';

/** A transaction of an interceptor. It commits once, unless it was rolled back before. */
export interface Transaction {
  commit(): void;
  rollback(): void;
}

/** What an interceptor has for one request. */
interface Surroundings {
  /** The handler, or the next interceptor. */
  readonly handle: () => Observable<unknown>;
  /** Begins a transaction, which commits `commitAfter` ms after the handler's result. */
  readonly begin: () => Transaction;
  readonly commitAfter: number;
  /** Runs work under a lock of the interceptor itself. */
  readonly lock: <T>(work: () => Promise<T>) => Promise<T>;
  /** Notes work that goes on when the client has left. */
  readonly outlives: (work: Promise<unknown>) => void;
  /** The number of the client. */
  readonly client: number;
  /** Whether this is the request without a lock, with whose answer others are compared. */
  readonly isReference: boolean;
  /** A value in the form in which the transport and the handler have it. */
  readonly valueOf: (text: string) => unknown;
  /** An error that the interceptor throws, in the form of the transport. */
  readonly errorOf: (text: string) => Error;
}

type Shape = (around: Surroundings) => Observable<unknown> | Promise<Observable<unknown>>;

const storage = new AsyncLocalStorage<number>();

/** Commits after each value, and rolls back after an error or when the subscriber leaves. */
function transacted({ handle, begin, commitAfter }: Surroundings): Observable<unknown> {
  const handled = handle();
  return defer(() => {
    const transaction = begin();
    return handled.pipe(
      concatMap(async (value) => {
        if (commitAfter > 0) await delay(commitAfter);
        transaction.commit();
        return value;
      }),
      finalize(() => transaction.rollback()),
    );
  });
}

/** Awaits the handler between the begin and the commit. */
async function awaited({ handle, commitAfter }: Surroundings, transaction: Transaction): Promise<unknown> {
  try {
    const value = await lastValueFrom(handle());
    if (commitAfter > 0) await delay(commitAfter);
    transaction.commit();
    return value;
  } finally {
    transaction.rollback();
  }
}

/** Awaits the handler in a transaction. A client that leaves rolls it back, and cancels nothing else. */
function deferred(around: Surroundings): Observable<unknown> {
  return defer(() => {
    const transaction = around.begin();
    const calling = trip(around).then(() => awaited(around, transaction));
    around.outlives(calling);
    return from(calling).pipe(finalize(() => transaction.rollback()));
  });
}

/** The first thing that a transaction does takes a trip to the database, which takes as long as the commit. */
const trip = ({ commitAfter }: Surroundings): Promise<void> => delay(1 + commitAfter);

/** The interceptors that applications have. */
const SHAPES = {
  pipe: transacted,
  'async intercept': async (around) => {
    await trip(around);
    return transacted(around);
  },
  'from a Promise': (around) => from(trip(around)).pipe(switchMap(() => transacted(around))),
  'async defer': deferred,
  'async retry': (around) => deferred({ ...around, handle: () => around.handle().pipe(retry(1)) }),
  'new Observable in a storage': (around) =>
    new Observable((subscriber) =>
      storage.run(around.client, () => transacted(around).subscribe(subscriber)),
    ),
  'awaits the handler': async (around) => of(await awaited(around, around.begin())),
  retry: (around) => transacted(around).pipe(retry(1)),
  timeout: (around) =>
    around.isReference
      ? transacted(around)
      : transacted(around).pipe(
          timeout({
            each: 4 + 4 * around.commitAfter,
            with: () => {
              throw around.errorOf('SLOW');
            },
          }),
        ),
  repeat: (around) => transacted(around).pipe(repeat(2), takeLast(1)),
  cache: (around) => (around.client % 2 === 1 ? of(around.valueOf('cached')) : transacted(around)),
  'two calls in parallel': (around) =>
    forkJoin([transacted(around), transacted(around)]).pipe(map(([value]) => value)),
  'throws before': (around) => {
    throw around.errorOf('BEFORE');
  },
  'throws after': (around) =>
    transacted({
      ...around,
      handle: () =>
        around.handle().pipe(
          map(() => {
            throw around.errorOf('AFTER');
          }),
        ),
    }),
  'another tick': (around) =>
    new Observable((subscriber) => {
      const immediate = setImmediate(() => subscriber.add(transacted(around).subscribe(subscriber)));
      return () => clearImmediate(immediate);
    }),
  shareReplay: (around) => transacted(around).pipe(shareReplay(1)),
  'locks before': async (around) => {
    await around.lock(() => trip(around));
    return transacted(around);
  },
  'locks around': (around) => defer(() => around.lock(() => lastValueFrom(around.handle()))),
  'locks after': (around) =>
    around.handle().pipe(concatMap((value) => around.lock(() => trip(around).then(() => value)))),
  'locks beside': (around) =>
    forkJoin([around.handle(), defer(() => around.lock(() => trip(around)))]).pipe(map(([value]) => value)),
} satisfies Readonly<Record<string, Shape>>;

export type ShapeName = keyof typeof SHAPES;

export const SHAPE_NAMES = Object.keys(SHAPES) as ShapeName[];

/** The shape of a name. */
export function shapeOf(name: ShapeName): Shape {
  return SHAPES[name];
}
