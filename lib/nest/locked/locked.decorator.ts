import type { LockedDecoratorFactory } from './locked-method.types.js';
import { assertHasKey, replaceMethod } from './replace-method.js';
import { assertLockedOptions } from './locked-options.js';

/**
 * Runs a method under a lock of one name or of several. The key is a template whose placeholders are the method's
 * arguments, several templates, or a function of the arguments. The second argument is the options, or the name of a
 * preset of the module.
 *
 * The lock is released after the method's Promise has settled or its Observable has ended. For a handler that Nest
 * calls, it is released after all interceptors have ended as well. The method must return a Promise or an Observable.
 * For an Observable, its signature must say so, without `import type` of Observable.
 *
 * Calls reject with LockTimeoutError if the wait ends without the lock (see `onTimeout`), and with LockKeyError for
 * invalid arguments. They reject with LockUnavailableError if Redis does not answer, and with LockClosedError during
 * shutdown. They reject with LockLostError if the method succeeded but its hold had ended before. An error of the
 * method itself always passes unchanged.
 *
 * An example, on one line because editors read a decorator at the beginning of a line as a tag:
 * `@Locked('order:<0>', { wait: 2_000 }) async pay(id: number): Promise<Receipt> { … }`
 *
 * @throws LockConfigError at decoration, for a bad template or option.
 */
export const Locked: LockedDecoratorFactory = (key, presetOrOptions = {}) => {
  assertHasKey('@Locked', key, presetOrOptions);
  const options = typeof presetOrOptions === 'string' ? { preset: presetOrOptions } : presetOrOptions;
  assertLockedOptions(options);
  return replaceMethod({ key, options });
};
