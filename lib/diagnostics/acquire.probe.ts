import { LockTimeoutError } from '../errors/lock-timeout.error.js';
import { currentOrigin } from './call-origin.js';
import { hasHoldSubscribers, type ObservedHold } from './hold.probe.js';
import { lockChannel } from './lock-channel.js';
import type { LockAcquire } from './lock-events.interface.js';

const start = lockChannel('nest-redis-lock:acquire:start');
const granted = lockChannel('nest-redis-lock:acquire:granted');
const timeout = lockChannel('nest-redis-lock:acquire:timeout');
const failed = lockChannel('nest-redis-lock:acquire:failed');
const queueLength = lockChannel('nest-redis-lock:queue:length');

/** What {@link observeAcquire} needs to know of an engine. */
export interface ObservedEngine<Options, Hold> {
  acquire(name: string, options: Options, once: boolean): Promise<Hold>;
  /** Callers that wait for a name. */
  waitersOf(name: string): number;
}

/** Whether anybody wants to know of acquires or of what becomes of their holds. */
export function hasAcquireSubscribers(): boolean {
  return (
    start.hasSubscribers ||
    granted.hasSubscribers ||
    timeout.hasSubscribers ||
    failed.hasSubscribers ||
    queueLength.hasSubscribers ||
    hasHoldSubscribers()
  );
}

/** Lets an engine acquire a lock, and tells the subscribers of it. */
export async function observeAcquire<
  Options extends { readonly wait: number; readonly ttl: number },
  Hold extends ObservedHold,
>(engine: ObservedEngine<Options, Hold>, name: string, options: Options): Promise<Hold> {
  const { wait, ttl } = options;
  const acquire: LockAcquire = { name, wait, ttl, ...currentOrigin() };
  const startedAt = performance.now();
  start.publish({ acquire });
  try {
    const asking = engine.acquire(name, options, wait === 0);
    tellLength(engine, name);
    const hold = await asking;
    hold.acquire = acquire;
    const { how, fencingToken } = hold;
    granted.publish({ acquire, waited: performance.now() - startedAt, how, fencingToken });
    return hold;
  } catch (error) {
    const waited = performance.now() - startedAt;
    if (error instanceof LockTimeoutError) timeout.publish({ acquire, waited });
    else failed.publish({ acquire, waited, error });
    throw error;
  } finally {
    tellLength(engine, name);
  }
}

function tellLength(engine: ObservedEngine<never, unknown>, name: string): void {
  if (queueLength.hasSubscribers) queueLength.publish({ name, length: engine.waitersOf(name) });
}
