import type { LockedMethod } from './locked-method.js';

const methods = new WeakMap<object, Map<string | symbol, LockedMethod>>();

/** The functions that replace locked methods. */
const wrappers = new WeakSet<object>();

export function recordLockedMethod(method: LockedMethod, wrapper: object): void {
  const { prototype, propertyKey } = method;
  const own = methods.get(prototype) ?? new Map<string | symbol, LockedMethod>();
  methods.set(prototype, own.set(propertyKey, method));
  wrappers.add(wrapper);
}

/** The locked methods that a class declares itself, by name. */
export function lockedMethodsOf(prototype: object): ReadonlyMap<string | symbol, LockedMethod> {
  return methods.get(prototype) ?? new Map();
}

/** Whether a function replaces a locked method, and was not replaced since. */
export function isLockedFunction(method: object): boolean {
  return wrappers.has(method);
}
