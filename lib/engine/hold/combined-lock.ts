import { LockKeyError, LockUnavailableError } from '../../errors/lock.error.js';
import type { Duration } from '../../options/duration.js';
import { resolveTtl } from '../../options/lock-options.js';
import { onAbort } from '../../primitives/abandonment.js';
import { detachmentError, partlyDetached } from '../lock-errors.js';
import { BaseLock } from './base-lock.js';
import type { GrantedLock, Lock } from './lock.interface.js';
import type { ReusableLock } from './reentry.js';
import { formatDetached, newSecret } from './detached-lock.js';

/** Holds of several names as one lock, which is lost with its first lost hold. */
export class CombinedLock extends BaseLock implements GrantedLock {
  private combined: AbortController | undefined;
  private ends: readonly (() => void)[] = [];

  constructor(readonly holds: readonly ReusableLock[]) {
    super();
  }

  get keys(): readonly string[] {
    return this.holds.flatMap(({ keys }) => keys);
  }

  get fencingToken(): number {
    return this.holds[0]?.fencingToken ?? 0;
  }

  get signal(): AbortSignal {
    return (this.combined ??= this.combine()).signal;
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

  async extend(ttl?: Duration): Promise<void> {
    await Promise.all(this.holds.map((hold) => hold.extend(ttl)));
  }

  detach(ttl?: Duration): Promise<string> {
    return detachAll(this.holds, ttl);
  }

  async release(): Promise<void> {
    // Releases all in parallel; none rejects.
    await Promise.all(this.holds.map((hold) => hold.release()));
    for (const end of this.ends) end();
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

/** The holds of which a lock consists. */
export function holdsOf(lock: Lock): readonly ReusableLock[] {
  return lock instanceof CombinedLock ? lock.holds : [lock as ReusableLock];
}

/**
 * Detaches all holds of a lock. If one of several fails, all others are released, because the lock is one.
 */
export async function detachAll(holds: readonly ReusableLock[], ttl: Duration | undefined): Promise<string> {
  const lease = resolveTtl(ttl);
  for (const hold of holds) hold.assertCanDetach();
  const secret = newSecret();
  const outcomes = await Promise.allSettled(holds.map((hold) => hold.detachFor(secret, lease)));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  const detachments = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  if (!failed) return formatDetached({ secret, holds: detachments.map(({ detached }) => detached) });
  if (holds.length > 1) {
    const keys = holds.flatMap((hold) => hold.keys);
    const loss = partlyDetached(keys, failed.reason);
    const left = holds.map((hold) => hold.loseAndRelease(loss, keys));
    await Promise.all([...left, ...detachments.map((each) => each.release())]);
    if (failed.reason instanceof LockUnavailableError)
      throw detachmentError(keys, failed.reason.cause, 'The hold of all its names was released.');
  }
  throw failed.reason;
}
