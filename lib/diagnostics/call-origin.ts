import { lockChannel } from './lock-channel.js';
import type { LockAcquire } from './lock-events.interface.js';

/** The `@Locked` method that requests a lock. Methods are few, lock names are many. */
export type CallOrigin = Pick<LockAcquire, 'method' | 'template'>;

export const NOWHERE: CallOrigin = Object.freeze({ method: undefined, template: undefined });

let current = NOWHERE;

/** Runs a call for the locks of a `@Locked` method. The call must resolve its options before it returns. */
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

const skipped = lockChannel('nest-redis-lock:method:skipped');

/** Publishes that a locked method did not run, because its names were taken. */
export function publishSkipped({ method = '', template }: CallOrigin, names: readonly string[]): void {
  if (skipped.hasSubscribers) skipped.publish({ method, template, names });
}
