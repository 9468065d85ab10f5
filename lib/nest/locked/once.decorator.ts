import { LockConfigError } from '../../errors/lock.error.js';
import type { OnceDecoratorFactory } from './locked-method.types.js';
import { assertOnceOptions } from './locked-options.js';
import { assertHasKey, replaceMethod } from './replace-method.js';

/**
 * Runs a method once for all instances, and shares its result, as `LockService.once` does. The key is a template whose
 * placeholders are the method's arguments, or a function of the arguments. The method must return a Promise of plain
 * JSON data.
 *
 * For a handler that Nest calls, the result is kept after all interceptors have ended. If one of them fails, nothing is
 * kept. A caller of the result of another run does not run the method.
 *
 * Calls reject as those of a `@Locked` method. They also reject with LockConfigError if the result cannot be kept.
 *
 * An example, on one line because editors read a decorator at the beginning of a line as a tag:
 * `@Once('report:<0>', { keep: '12h' }) async build(day: string): Promise<Report> { … }`
 *
 * @throws LockConfigError at decoration, for a bad template or option, several names, an Observable or a generator.
 */
export const Once: OnceDecoratorFactory = (key, options) => {
  assertHasKey('@Once', key, options);
  if (Array.isArray(key))
    throw new LockConfigError('@Once takes one key, because a result belongs to one name.');
  assertOnceOptions(options);
  return replaceMethod({ key, options });
};
