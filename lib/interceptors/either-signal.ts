import { onAbort } from '../engine/on-abort.js';

/**
 * Aborts with the first of several signals. It has as much of an AbortSignal as an acquire uses.
 *
 * Not AbortSignal.any: on Node 20 that leaves something at each of its signals, and the one of an option of `@Locked`
 * lives as long as the application.
 */
export class EitherSignal {
  private readonly ends = new Map<() => void, readonly (() => void)[]>();

  constructor(private readonly signals: readonly AbortSignal[]) {}

  get aborted(): boolean {
    return this.signals.some(({ aborted }) => aborted);
  }

  get reason(): unknown {
    return this.signals.find(({ aborted }) => aborted)?.reason;
  }

  /** For where its like is asked for by type. */
  get signal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  throwIfAborted(): void {
    for (const signal of this.signals) signal.throwIfAborted();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.ends.set(
      listener,
      this.signals.map((signal) => onAbort(signal, listener)),
    );
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    for (const end of this.ends.get(listener) ?? []) end();
    this.ends.delete(listener);
  }
}
