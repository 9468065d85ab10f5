import { isGeneratorFunction } from 'node:util/types';
import { LockConfigError } from '../../errors/lock.error.js';
import { compileKeySource } from '../../keys/key-source.js';
import { assertInstanceMember, memberName } from './instance-member.js';
import { registerLockInterceptor } from './lock.interceptor.js';
import { wrapMethod } from './locked-call.js';
import { type AnyFunction, LockedMethod, recordLockedMethod } from './locked-method.js';
import { addLockedMetadata, type Decorator, decoratorOf, type LockedMetadata } from './locked-options.js';
import { serviceBinding } from './service-binding.js';

/** Creates the method decorator for a key and its options. */
export function replaceMethod(
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
export function assertHasKey(decorator: Decorator, key: unknown, member: unknown): void {
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
