import type { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { LockOptions } from '../../options/lock-options.interface.js';

/**
 * Options of `@Locked`: those of an acquire, what to do when the wait ends without the lock, and which Redis.
 * `Args` are the arguments that `onTimeout` wants; the method's own must fit them. `Result` is what it gives in place of the
 * method's result, and `Word` the word that stands for one.
 */
export interface LockedOptions<
  Args extends readonly unknown[] = [],
  Result = unknown,
  Word extends 'throw' | 'skip' = 'throw' | 'skip',
> extends LockOptions {
  /**
   * What a call becomes whose wait ended without the lock: `'throw'` rejects with the LockTimeoutError (the default),
   * `'skip'` resolves to undefined without running the method, and a function gets the error and the
   * method's arguments, with the instance as `this`, and its result is the call's. The method's type has to allow for it: `Promise<Report | undefined>`
   * with `'skip'`.
   */
  onTimeout?: Word | ((error: LockTimeoutError, ...args: Args) => Result);
  /** Name of the `RedisLockModule` to use, where several are imported. Default: the one without a name. */
  module?: string;
}
