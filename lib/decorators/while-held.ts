import { concat, defer, EMPTY, Observable, takeUntil } from 'rxjs';
import { assertNotLost } from '../interceptors/assert-not-lost.js';
import type { Lock } from '../interfaces/lock.interface.js';

/**
 * A stream that fails with the LockLostError of a hold as soon as that is lost, and does not complete without it.
 *
 * @param within runs the subscription in the async context of the hold.
 */
export function whileHeld<T>(
  lock: Lock,
  within: <R>(subscribe: () => R) => R,
  stream: Observable<T>,
): Observable<T> {
  const inContext = new Observable<T>((subscriber) => within(() => stream.subscribe(subscriber)));
  const heldToTheEnd = defer(() => {
    assertNotLost(lock);
    return EMPTY;
  });
  return concat(inContext, heldToTheEnd).pipe(takeUntil(lossOf(lock)));
}

/** Fails when the hold is lost, and never emits. */
function lossOf(lock: Lock): Observable<never> {
  return new Observable((subscriber) => {
    const fail = (): void => subscriber.error(lock.signal.reason);
    if (lock.signal.aborted) return fail();
    lock.signal.addEventListener('abort', fail);
    return () => lock.signal.removeEventListener('abort', fail);
  });
}
