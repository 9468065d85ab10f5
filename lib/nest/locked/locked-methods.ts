import type { LockedMethod } from './locked-method.js';

const methods = new WeakMap<object, Map<string | symbol, LockedMethod>>();

export function recordLockedMethod(method: LockedMethod): void {
  const { prototype, propertyKey } = method;
  const own = methods.get(prototype) ?? new Map<string | symbol, LockedMethod>();
  methods.set(prototype, own.set(propertyKey, method));
}

/** The locked methods that a class declares itself, by name. */
export function lockedMethodsOf(prototype: object): ReadonlyMap<string | symbol, LockedMethod> {
  return methods.get(prototype) ?? new Map();
}
