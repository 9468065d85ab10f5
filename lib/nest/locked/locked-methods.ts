import type { LockedMethod } from './locked-method.js';

const methods = new WeakMap<object, Map<string | symbol, LockedMethod>>();
const unchecked = new Set<object>();

export function recordLockedMethod(method: LockedMethod): void {
  const { prototype, propertyKey } = method;
  const own = methods.get(prototype) ?? new Map<string | symbol, LockedMethod>();
  methods.set(prototype, own.set(propertyKey, method));
  unchecked.add(prototype);
}

/** The locked methods that a class declares itself, by name. */
export function lockedMethodsOf(prototype: object): ReadonlyMap<string | symbol, LockedMethod> {
  return methods.get(prototype) ?? new Map();
}

/**
 * The classes with locked methods that were defined since the last call. Each is given once, so that what remembers
 * them keeps none alive, and a process with several applications hears of each once.
 */
export function takeUncheckedClasses(): readonly object[] {
  const taken = [...unchecked];
  unchecked.clear();
  return taken;
}
