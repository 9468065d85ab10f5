import { onAbort } from './on-abort.js';

/**
 * Tells an acquire that nobody is interested in its wait any more: by itself, or with the first of the signals that it
 * follows, where it leaves nothing once nobody listens.
 *
 * It has as much of an AbortSignal as an acquire uses. A real one is an event target, and to make and to watch it
 * would cost more than all else that a decorated call adds to its lock. Nor is it AbortSignal.any: on Node 20 that
 * leaves something at each of its signals, and the one of an option of `@Locked` lives as long as the application.
 */
export class Abandonment {
  private cause: unknown;
  /** With what ends their listening to the signals that are followed. */
  private readonly listeners = new Map<() => void, readonly (() => void)[]>();
  private readonly followed: readonly AbortSignal[];

  constructor(...followed: readonly AbortSignal[]) {
    this.followed = followed;
  }

  get aborted(): boolean {
    return this.cause !== undefined || this.followed.some(({ aborted }) => aborted);
  }

  get reason(): unknown {
    return this.cause ?? this.followed.find(({ aborted }) => aborted)?.reason;
  }

  /** For where its like is asked for by type. */
  get signal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  abort(reason: Error = new DOMException('Nobody waits for the lock any more.', 'AbortError')): void {
    if (this.aborted) return;
    this.cause = reason;
    for (const listener of this.listeners.keys()) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    const ends = this.followed.map((signal) => onAbort(signal, listener));
    this.listeners.set(listener, ends);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    for (const end of this.listeners.get(listener) ?? []) end();
    this.listeners.delete(listener);
  }
}
