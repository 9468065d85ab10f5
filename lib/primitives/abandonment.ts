/**
 * Ends the wait of an acquire: by a call of `abort`, or with the first of the signals that it follows. It leaves no
 * listener at those signals when the wait is done.
 *
 * Implements only the part of AbortSignal that an acquire uses. Creating and observing a real AbortSignal, which is an
 * event target, would cost more than the rest of a decorated call. `AbortSignal.any` leaks on Node 20: it leaves an
 * entry at each of its signals, and that of a shutdown lives as long as the application.
 */
export class Abandonment {
  private cause: unknown;
  /** By listener: the functions that stop listening to the followed signals. */
  private readonly listeners = new Map<() => void, readonly (() => void)[]>();
  private readonly followed: readonly AbortSignal[];

  constructor(...followed: readonly (AbortSignal | undefined)[]) {
    this.followed = followed.filter((signal) => signal !== undefined);
  }

  get aborted(): boolean {
    return this.cause !== undefined || this.followed.some(({ aborted }) => aborted);
  }

  get reason(): unknown {
    return this.cause ?? this.followed.find(({ aborted }) => aborted)?.reason;
  }

  /** Whether somebody listens. */
  protected get isHeard(): boolean {
    return this.listeners.size > 0;
  }

  /** This object, typed as the AbortSignal that callers expect. */
  get signal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  abort(reason: Error = new DOMException('The caller no longer waits for the lock.', 'AbortError')): void {
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

interface SharedListener {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

const shared = new WeakMap<AbortSignal, SharedListener>();

/**
 * Runs `call` when the signal aborts, unless the returned function is called before.
 *
 * All waits with one signal share one listener, because Node warns of a leak at the eleventh.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const { calls, listener } = shared.get(signal) ?? listen(signal);
  calls.add(call);
  return () => {
    calls.delete(call);
    if (calls.size > 0 || shared.get(signal)?.calls !== calls) return;
    signal.removeEventListener('abort', listener);
    shared.delete(signal);
  };
}

function listen(signal: AbortSignal): SharedListener {
  const calls = new Set<() => void>();
  const listener = (): void => {
    for (const call of calls) call();
  };
  const entry = { calls, listener };
  shared.set(signal, entry);
  signal.addEventListener('abort', listener, { once: true });
  return entry;
}

/** Settles like `waiting`, unless the signal aborts first, or has aborted. */
export async function unlessAborted<T>(waiting: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return waiting;
  return new Promise((resolve, reject) => {
    const unhook = onAbort(signal, () => reject(signal.reason as Error));
    waiting.finally(unhook).then(resolve, reject);
    if (signal.aborted) reject(signal.reason as Error);
  });
}
