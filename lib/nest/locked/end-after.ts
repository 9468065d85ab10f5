import { Observable } from 'rxjs';

/** What happens at the end of a stream. */
export interface StreamEnd {
  /**
   * Called once: at the end of the stream, which the subscriber hears of when the Promise has settled, or when the
   * subscriber leaves, which waits for nothing. A rejection takes the place of the completion.
   */
  readonly close: (how: 'completed' | 'failed' | 'left') => Promise<void> | void;
  /** What the subscriber gets in place of an error. */
  readonly translate?: (error: unknown) => unknown;
}

/**
 * Passes on the values of a stream, but its end only after `close`, and with it the value that comes right before it: what
 * a client takes for the answer must not arrive while the lock is still held.
 */
export function endAfter<T>(
  stream: Observable<T>,
  { close, translate = (error) => error }: StreamEnd,
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
    const fail = (error: unknown): void => subscriber.error(translate(error));
    const end = (how: 'completed' | 'failed', tell: () => void): void => {
      hasEnded = true;
      const finish = (): void => {
        pass();
        tell();
      };
      try {
        const closed = close(how);
        if (closed === undefined) finish();
        else void closed.then(finish, fail);
      } catch (error) {
        fail(error);
      }
    };
    subscriber.add(() => {
      if (!hasEnded) void close('left');
      hasEnded = true;
    });
    if (subscriber.closed) return;
    subscriber.add(
      stream.subscribe({
        next: (value) => {
          pass();
          held = { value };
          // By then it is known whether the stream has ended with it, as that of a Promise or of one value does.
          queueMicrotask(passUnlessLast);
        },
        error: (error: unknown) => end('failed', () => fail(error)),
        complete: () => end('completed', () => subscriber.complete()),
      }),
    );
  });
}
