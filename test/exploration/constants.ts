import { IDLE } from '../../lib/engine/queue/bid.js';

// Not a property: to look for one that most objects lack takes long.
const constants = new WeakMap<object, string>();

/** Marks an object that never changes, or does not matter, by what stands for it in the key of a state. */
export function constant<T extends object>(value: T, text = 'constant'): T {
  constants.set(value, text);
  return value;
}

constant(IDLE, 'idle');

/** What stands for an object in the key of a state; undefined if its content does. */
export function constantText(value: object): string | undefined {
  if (value instanceof Error) return 'error';
  return value instanceof Promise ? 'promise' : constants.get(value);
}
