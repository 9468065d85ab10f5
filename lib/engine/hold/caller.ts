import { onAbort } from '../../primitives/abandonment.js';

/** A caller that waits. Its promise settles once. */
export class Caller<T> {
  isWaiting = true;
  private unhook: (() => void) | undefined;

  constructor(
    private readonly fulfill: (result: T | Promise<T>) => void,
    private readonly fail: (error: unknown) => void,
  ) {}

  /** Calls back with the reason if the signal aborts while the caller waits. */
  follow(signal: AbortSignal, leave: (reason: unknown) => void): void {
    this.unhook = onAbort(signal, () => leave(signal.reason));
  }

  /** Resolves the promise, or rejects it with the error of a promise that still has to settle. */
  resolve(result: T | Promise<T>): void {
    if (this.endWait()) this.fulfill(result);
  }

  reject(error: unknown): void {
    if (this.endWait()) this.fail(error);
  }

  /** Returns whether the caller was waiting. */
  protected endWait(): boolean {
    if (!this.isWaiting) return false;
    this.isWaiting = false;
    this.unhook?.();
    return true;
  }
}
