import { IDLE } from '../../lib/engine/queue/turn.js';

/** Objects that never change, which all copies share, by what stands for them in the key of a state. */
const constants = new WeakMap<object, string>([[IDLE, 'idle']]);

/** Marks an object as one that never changes. */
export function constant<T extends object>(value: T, text: string): T {
  constants.set(value, text);
  return value;
}

/** What stands for an object that never changes; undefined for another one. */
export function constantText(value: object): string | undefined {
  return constants.get(value);
}

/** Copies an object and everything that it refers to, with their classes. Functions, errors and constants are shared. */
export function copyOf<T extends object>(original: T): T {
  const copies = new Map<object, object>();
  const weak: [from: WeakMap<object, object>, to: WeakMap<object, object>][] = [];
  const copy = (value: object): object => {
    const known = copies.get(value);
    if (known) return known;
    if (value instanceof Error || constants.has(value)) return value;
    if (Array.isArray(value)) {
      const array: unknown[] = [];
      copies.set(value, array);
      for (const each of value as unknown[]) array.push(copied(each));
      return array;
    }
    if (value instanceof Map) {
      const map = new Map();
      copies.set(value, map);
      for (const [key, each] of value) map.set(copied(key), copied(each));
      return map;
    }
    if (value instanceof Set) {
      const set = new Set();
      copies.set(value, set);
      for (const each of value) set.add(copied(each));
      return set;
    }
    if (value instanceof WeakMap) {
      const map = new WeakMap<object, object>();
      copies.set(value, map);
      weak.push([value, map]);
      return map;
    }
    const target = Object.create(Object.getPrototypeOf(value) as object) as Record<string, unknown>;
    copies.set(value, target);
    const source = value as Record<string, unknown>;
    for (const key in source) target[key] = copied(source[key]);
    return target;
  };
  const copied = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? copy(value) : value;
  const result = copy(original) as T;
  for (const [from, to] of weak)
    for (const [key, target] of [...copies]) {
      const value = from.get(key);
      if (value) to.set(target, copy(value));
    }
  return result;
}
