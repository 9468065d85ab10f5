import { isGeneratorFunction } from 'node:util/types';
import { LockConfigError } from '../../errors/lock.error.js';
import { compileKeySource } from '../../keys/key-source.js';
import { assertInstanceMember, memberName } from './instance-member.js';
import { registerLockInterceptor } from './lock.interceptor.js';
import { wrapMethod } from './locked-call.js';
import { type AnyFunction, LockedMethod, recordLockedMethod } from './locked-method.js';
import type { LockedDecoratorFactory, OnceDecoratorFactory } from './locked-method.types.js';
import {
  addLockedMetadata,
  assertLockedOptions,
  assertOnceOptions,
  type Decorator,
  decoratorOf,
  type LockedMetadata,
} from './locked-options.js';
import { serviceBinding } from './service-binding.js';

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

/** Creates the method decorator for a key and its options. */
function replaceMethod(
  metadata: LockedMetadata,
): (target: object, propertyKey: string | symbol, descriptor: PropertyDescriptor) => void {
  const source = compileKeySource(metadata.key);
  const decorator = decoratorOf(metadata.options);
  return (target: object, propertyKey: string | symbol, descriptor: PropertyDescriptor): void => {
    assertInstanceMember(decorator, 'a method', target, propertyKey);
    // Undefined for a field, which compilers without type checks accept.
    const original: unknown = (descriptor as PropertyDescriptor | undefined)?.value;
    if (typeof original !== 'function') {
      throw new LockConfigError(
        `${decorator} is for methods, but ${memberName(target, propertyKey)} is not a method. ` +
          'Write a field that holds a function as a method: async name() { … }.',
      );
    }
    if (isGeneratorFunction(original)) {
      throw new LockConfigError(
        `${memberName(target, propertyKey)} is ${decorator} and a generator: its lock would be released before it is iterated. ` +
          'Return a Promise of all values, or an Observable, such as from(generator).',
      );
    }
    const binding = serviceBinding(metadata.options.module);
    const method = new LockedMethod(target, propertyKey, original as AnyFunction, source, metadata, binding);
    if (decorator === '@Once' && method.returnsObservable) {
      throw new LockConfigError(
        `${method.name} is @Once and returns an Observable, whose values cannot be kept: return a Promise of one result.`,
      );
    }
    const wrapper = wrapMethod(method);
    addLockedMetadata(wrapper, metadata);
    descriptor.value = wrapper;
    recordLockedMethod(method, wrapper);
    binding.injectInto(target);
    registerLockInterceptor(target.constructor);
  };
}

/** Rejects a decorator without parentheses, which the class definition calls with class and member. */
function assertHasKey(decorator: Decorator, key: unknown, member: unknown): void {
  const isMember = typeof member === 'string' || typeof member === 'symbol';
  const isPrototype = typeof key === 'object' && !Array.isArray(key);
  if (!(isMember && isPrototype) && !isClass(key)) return;
  const type = (typeof key === 'function' ? key : Object(key).constructor) as Function;
  const target = isMember ? memberName(type.prototype as object, member) : type.name;
  throw new LockConfigError(
    `${decorator} on ${target} has no key: write the key in parentheses, as in ${decorator}('order:<0>').`,
  );
}

function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}
