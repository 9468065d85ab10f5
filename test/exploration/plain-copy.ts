import { IDLE } from '../../lib/engine/queue/turn.js';

/** A copy of everything that an object refers to, with its classes. Functions and frozen objects are shared. */
export function copyOf<T>(original: T): T {
  const copies = new Map<object, object>([[IDLE, IDLE]]);
  const weak: [WeakMap<object, object>, WeakMap<object, object>][] = [];
  const copy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = copies.get(value);
    if (known) return known;
    if (Object.isFrozen(value) || value instanceof Error) return value;
    if (value instanceof Map) {
      const map = new Map();
      copies.set(value, map);
      for (const [key, each] of value) map.set(copy(key), copy(each));
      return map;
    }
    if (value instanceof Set) {
      const set = new Set();
      copies.set(value, set);
      for (const each of value) set.add(copy(each));
      return set;
    }
    if (value instanceof WeakMap) {
      const map = new WeakMap();
      copies.set(value, map);
      weak.push([value, map]);
      return map;
    }
    const target = (Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))) as Record<
      string,
      unknown
    >;
    copies.set(value, target);
    const source = value as Record<string, unknown>;
    for (const key of Object.keys(source)) target[key] = copy(source[key]);
    return target;
  };
  const result = copy(original) as T;
  for (const [from, to] of weak)
    for (const [key, copied] of [...copies]) {
      const value = from.get(key);
      if (value) to.set(copied, copy(value) as object);
    }
  return result;
}
