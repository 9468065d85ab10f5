import { AsyncLocalStorage } from 'node:async_hooks';
import type { LockAcquire } from './lock-events.interface.js';

/** Which `@Locked` method asks for a lock: of these there are few, of names many. */
export type CallOrigin = Pick<LockAcquire, 'method' | 'template'>;

const NOWHERE: CallOrigin = { method: undefined, template: undefined };

const origins = new AsyncLocalStorage<CallOrigin>();

/** Runs a call for locks that a `@Locked` method makes. */
export function callFrom<T>(origin: CallOrigin, call: () => T): T {
  return origins.run(origin, call);
}

export function currentOrigin(): CallOrigin {
  return origins.getStore() ?? NOWHERE;
}
