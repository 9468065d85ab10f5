import { AsyncResource } from 'node:async_hooks';

/** Made when this file is loaded, so that no call is under way in it that uses locks. */
const root = new AsyncResource('nest-redis-lock');

/**
 * Runs `call` in the async context of no caller.
 *
 * For code of users that runs on behalf of nobody: in the context of whoever happened to set a timer it would enter the
 * holds of that one. And for what is set up to stay, a timer or a connection, which would keep such a context alive.
 */
export function inRootContext<T>(call: () => T): T {
  // In one made anew, for before Node 24 `AsyncLocalStorage.enterWith` leaves its store in the one that it finds.
  return root.runInAsyncScope(() => new AsyncResource('nest-redis-lock').runInAsyncScope(call));
}
