import type { LockAcquire } from './lock-events.interface.js';

/** Which `@Locked` method asks for a lock: of these there are few, of names many. */
export type CallOrigin = Pick<LockAcquire, 'method' | 'template'>;

export const NOWHERE: CallOrigin = Object.freeze({ method: undefined, template: undefined });

let current = NOWHERE;

/** Makes a call for locks that a `@Locked` method asks for; its options are resolved before it returns. */
export function callFrom<T>(origin: CallOrigin, call: () => T): T {
  const before = current;
  current = origin;
  try {
    return call();
  } finally {
    current = before;
  }
}

export function currentOrigin(): CallOrigin {
  return current;
}
