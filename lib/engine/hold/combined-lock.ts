import { LockKeyError } from '../../errors/lock.error.js';
import { detachAll } from './detach.js';
import type { GrantedLock } from './lock.interface.js';
import type { EnterableLock } from './reentry.js';
import { onAbort } from '../../primitives/abandonment.js';

/** Holds of several names as one lock, which is lost with its first lost hold. */
export class CombinedLock implements GrantedLock {
  private combined: AbortController | undefined;
  private ends: readonly (() => void)[] = [];

  constructor(readonly holds: readonly EnterableLock[]) {}

  get keys(): readonly string[] {
    return this.holds.flatMap(({ keys }) => keys);
  }

  get fencingToken(): number {
    return this.holds[0]?.fencingToken ?? 0;
  }

  get signal(): AbortSignal {
    return (this.combined ??= this.combine()).signal;
  }

  get held(): boolean {
    return this.holds.every((hold) => hold.held);
  }

  get remaining(): number {
    return Math.min(...this.holds.map((hold) => hold.remaining));
  }

  get certainFor(): number {
    return Math.min(...this.holds.map((hold) => hold.certainFor));
  }

  fencingTokenOf(key: string): number {
    const hold = this.holds.find(({ keys }) => keys.includes(key));
    if (hold) return hold.fencingToken;
    throw new LockKeyError(`This hold is of ${this.keys.join(', ')}, not of ${key}.`, { keys: [key] });
  }

  assertHeld(): void {
    for (const hold of this.holds) hold.assertHeld();
  }

  assertNotLost(): void {
    for (const hold of this.holds) hold.assertNotLost();
  }

  async extend(ttl?: number): Promise<void> {
    await Promise.all(this.holds.map((hold) => hold.extend(ttl)));
  }

  detach(ttl?: number): Promise<string> {
    return detachAll(this.holds, ttl);
  }

  async release(): Promise<void> {
    // Releases all in parallel. Holds of one lease share a promise, and none rejects.
    for (const end of new Set(this.holds.map((hold) => hold.release()))) await end;
    for (const end of this.ends) end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /**
   * Combines the signals without AbortSignal.any, which on Node 20 leaves an entry at each signal while a surrounding
   * hold lasts.
   */
  private combine(): AbortController {
    const combined = new AbortController();
    this.ends = this.holds.map(({ signal }) => {
      const abort = (): void => combined.abort(signal.reason);
      if (signal.aborted) abort();
      return onAbort(signal, abort);
    });
    return combined;
  }
}
