import type { LockTimeoutError } from '../errors/lock-timeout.error.js';
import type { LockOptions } from '../interfaces/lock-options.interface.js';

/**
 * Options of `@Locked`: those of an acquire, what to do when the wait ends without the lock, and which Redis.
 * `Args` are the arguments that `onTimeout` wants; the method's own must fit them.
 */
export interface LockedOptions<Args extends readonly unknown[] = []> extends LockOptions {
  /**
   * What a call becomes whose wait ended without the lock: `'throw'` rejects with the LockTimeoutError (the default),
   * `'skip'` resolves to undefined without running the method, and a function gets the error and the
   * method's arguments, and its result is the call's.
   */
  onTimeout?: 'throw' | 'skip' | ((error: LockTimeoutError, ...args: Args) => unknown);
  /** Name of the `RedisLockModule` to use, where several are imported. Default: the one without a name. */
  connection?: string;
}
