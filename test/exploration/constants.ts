import { IDLE } from '../../lib/engine/queue/bid.js';

const CONSTANT = Symbol('constant');

type Marked = object & { [CONSTANT]?: string };

/** Marks an object that never changes, or does not matter, by what stands for it in the key of a state. */
export function constant<T extends object>(value: T, text = 'constant'): T {
  (value as Marked)[CONSTANT] = text;
  return value;
}

constant(IDLE, 'idle');

/** What stands for an object in the key of a state; undefined if its content does. */
export function constantText(value: object): string | undefined {
  if (value instanceof Error) return 'error';
  return value instanceof Promise ? 'promise' : (value as Marked)[CONSTANT];
}
