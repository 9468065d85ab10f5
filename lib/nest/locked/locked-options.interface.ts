import type { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { LockOptions } from '../../options/lock-options.interface.js';

/**
 * Options of `@Locked`: those of an acquire, the reaction to a timeout, and the module. `Args` are the arguments of
 * `onTimeout`, which the method's own must fit. `Result` is its result in place of the method's, and `Word` a word
 * instead of a function.
 */
export interface LockedOptions<
  Args extends readonly unknown[] = [],
  Result = unknown,
  Word extends 'throw' | 'skip' = 'throw' | 'skip',
> extends LockOptions {
  /**
   * The result of a call whose wait ended without the lock. `'throw'` (default) rejects with the LockTimeoutError.
   * `'skip'` resolves to undefined without running the method. A function receives the error and the method's
   * arguments, with the instance as `this`, and returns the result of the call. The method's type must allow the
   * result: `Promise<Report | undefined>` with `'skip'`.
   */
  onTimeout?: Word | ((error: LockTimeoutError, ...args: Args) => Result);
  /** Name of the `RedisLockModule` to use. Default: the module without a name. */
  module?: string;
}
