/**
 * Tells an acquire that nobody is interested in its wait any more.
 *
 * It has as much of an AbortSignal as an acquire uses. A real one is an event target, and to make and to watch it
 * would cost more than all else that a decorated call adds to its lock.
 */
export class Abandonment {
  private cause: unknown;
  private readonly listeners = new Set<() => void>();

  get aborted(): boolean {
    return this.cause !== undefined;
  }

  get reason(): unknown {
    return this.cause;
  }

  /** For where its like is asked for by type. */
  get signal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  abort(): void {
    if (this.aborted) return;
    this.cause = new DOMException('Nobody waits for the lock any more.', 'AbortError');
    for (const listener of this.listeners) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.cause;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }
}
