import { Logger } from '@nestjs/common';
import { AsyncResource } from 'node:async_hooks';
import { concat, defer, EMPTY, Observable, takeUntil } from 'rxjs';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import type { GrantedLock, Lock } from '../../engine/hold/lock.interface.js';
import { Enclosure } from '../../primitives/enclosure.js';
import { messageOf } from '../../primitives/message-of.js';
import { untilLeft } from './end-after.js';

/**
 * A stream that fails with the LockLostError as soon as its hold is lost, and does not complete without the hold. Its
 * subscriber is not nested in the hold: an interceptor that calls the handler again from a value is no nested call.
 *
 * @param within runs the subscription in the async context of the hold.
 */
export function whileHeld<T>(
  lock: Lock,
  within: <R>(subscribe: () => R) => R,
  stream: Observable<T>,
): Observable<T> {
  const inContext = new Observable<T>((subscriber) => {
    const outside = Enclosure.capture();
    return within(() =>
      untilLeft(stream, subscriber).subscribe({
        next: (value) => outside(() => subscriber.next(value)),
        error: (error: unknown) => outside(() => subscriber.error(error)),
        complete: () => outside(() => subscriber.complete()),
      }),
    );
  });
  const heldToTheEnd = defer(() => {
    assertNotLost(lock);
    return EMPTY;
  });
  return concat(inContext, heldToTheEnd).pipe(takeUntil(lossOf(lock)));
}

/** A stream that fails when the hold is lost, and never emits. */
function lossOf(lock: Lock): Observable<never> {
  return new Observable((subscriber) => {
    const fail = AsyncResource.bind(() => subscriber.error(lock.signal.reason));
    if (lock.signal.aborted) return fail();
    lock.signal.addEventListener('abort', fail);
    return () => lock.signal.removeEventListener('abort', fail);
  });
}

/**
 * Throws LockLostError if a hold ended before its work did, but not if the work released it. A mocked lock cannot
 * distinguish the two cases: it counts as lost if it is not held.
 */
export function assertNotLost(lock: Lock & Partial<GrantedLock>): void {
  if (lock.assertNotLost === undefined) lock.assertHeld();
  else lock.assertNotLost();
}

/** Releases a hold. A failed release is logged, because it must not replace the result of the work. */
export async function releaseQuietly(lock: Lock): Promise<void> {
  try {
    await lock.release();
  } catch (error) {
    const names = lock.keys.join(', ');
    Logger.warn(
      `Lock ${names} was not released, and stays taken until its lease expires: ${messageOf(error)}`,
      LOG_CONTEXT,
    );
  }
}
