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
