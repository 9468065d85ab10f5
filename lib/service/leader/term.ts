import { CombinedLock } from '../../engine/hold/combined-lock.js';
import type { ReusableLock } from '../../engine/hold/reentry.js';
import { isLockError } from '../../errors/lock.error.js';
import { onAbort } from '../../primitives/abandonment.js';
import { inRootContext } from '../../primitives/root-context.js';
import { tryTo } from '../../primitives/try-to.js';

/** The lock of the leader's work. Its signal also aborts when the campaign ends. */
export class Term extends CombinedLock {
  private readonly over = new AbortController();
  private readonly stops: readonly (() => void)[];

  constructor(hold: ReusableLock, campaign: AbortSignal) {
    super([hold]);
    this.stops = [hold.signal, campaign].map((signal) => {
      const stepDown = (): void => inRootContext(() => this.over.abort(signal.reason));
      if (signal.aborted) stepDown();
      return onAbort(signal, stepDown);
    });
  }

  override get signal(): AbortSignal {
    return this.over.signal;
  }

  /**
   * Whether an error of the work is the response to the aborted signal: its reason, an error caused by it, or an
   * AbortError.
   */
  isEndedBy(error: unknown): boolean {
    const { aborted, reason } = this.signal;
    if (isLockError(error) && error.code === 'LOCK_LOST' && error.keys.some((key) => this.keys.includes(key)))
      return true;
    const isResponse = (): boolean => {
      // Not by instanceof: in Jest, errors of Node have another class.
      const { cause, name } = Object(error) as Partial<Error>;
      return error === reason || cause === reason || name === 'AbortError';
    };
    return aborted && tryTo(isResponse) === true;
  }

  /** Removes the listeners of the signal. */
  end(): void {
    for (const stop of this.stops) stop();
  }
}
