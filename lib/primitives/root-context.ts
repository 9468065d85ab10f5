import { AsyncResource } from 'node:async_hooks';

/** Created when this file is loaded, outside any call that uses locks. */
const root = new AsyncResource('nest-redis-lock');

/**
 * Runs `call` outside the async context of any caller.
 *
 * Use it for user code that runs on behalf of no caller: in the context of the caller that set a timer, it would reuse
 * that caller's holds. Use it also for timers and connections, which would keep such a context alive.
 */
export function inRootContext<T>(call: () => T): T {
  // In a new resource, because before Node 24 `AsyncLocalStorage.enterWith` leaves its store in the current one.
  return root.runInAsyncScope(() => new AsyncResource('nest-redis-lock').runInAsyncScope(call));
}
