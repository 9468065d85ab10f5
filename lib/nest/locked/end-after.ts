import { Observable, type Subscriber, takeWhile } from 'rxjs';
import { tryTo } from '../../primitives/try-to.js';

/** How a stream has ended: with its completion, with an error, or without a subscriber. */
export type Ending = 'completed' | 'failed' | 'left';

/** The actions at the end of a stream. */
export interface StreamEnd<T> {
  /** Called with each value when it comes. */
  readonly seen?: (value: T) => void;
  /**
   * Called once, at the end of the stream or when the subscriber leaves. The subscriber receives the end when the
   * Promise has settled. A rejection replaces the completion.
   */
  readonly close: (how: Ending) => Promise<void> | void;
  /** Converts an error for the subscriber. */
  readonly translate?: (error: unknown) => unknown;
}

/**
 * Passes on the values of a stream, but its end, and the value right before it, only after `close`. A value that a
 * client considers the reply must not arrive while the lock is still held.
 */
export function endAfter<T>(
  stream: Observable<T>,
  { seen, close, translate = (error) => error }: StreamEnd<T>,
): Observable<T> {
  return new Observable((subscriber) => {
    let hasEnded = false;
    let held: { readonly value: T } | undefined;
    const pass = (): void => {
      const passing = held;
      held = undefined;
      if (passing !== undefined) subscriber.next(passing.value);
    };
    const passUnlessLast = (): void => {
      if (!hasEnded) pass();
    };
    // Errors of `seen` and `translate` would be uncaught: values may throw when they are read.
    const fail = (error: unknown): void => subscriber.error(tryTo(() => translate(error)) ?? error);
    const end = (how: 'completed' | 'failed', emit: () => void): void => {
      if (subscriber.closed) return;
      hasEnded = true;
      const finish = (): void => {
        pass();
        emit();
      };
      try {
        const closed = close(how);
        if (closed === undefined) finish();
        else void closed.then(finish, fail);
      } catch (error) {
        fail(error);
      }
    };
    const leave = (): void => {
      if (!hasEnded) void close('left');
      hasEnded = true;
    };
    if (subscriber.closed) return leave();
    subscriber.add(
      untilLeft(stream, subscriber).subscribe({
        next: (value) => {
          if (seen) tryTo(() => seen(value));
          pass();
          held = { value };
          // A Promise or a single value ends right after its value, so the next microtask knows whether this value was
          // the last one.
          queueMicrotask(passUnlessLast);
        },
        error: (error: unknown) => end('failed', () => fail(error)),
        complete: () => end('completed', () => subscriber.complete()),
      }),
    );
    // After the teardown of the stream: its finalizers still need what close() ends.
    subscriber.add(leave);
  });
}

/**
 * A stream that ends when its subscriber has left, also while it emits its values in the step of the subscription. Only
 * the operators of rxjs learn of that: otherwise an endless stream would never return.
 */
export function untilLeft<T>(stream: Observable<T>, subscriber: Subscriber<T>): Observable<T> {
  return stream.pipe(takeWhile(() => !subscriber.closed));
}
