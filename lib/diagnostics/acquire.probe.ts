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

/** Of the options, what subscribers are told. */
export type ObservedOptions = Pick<LockAcquire, 'wait' | 'ttl'>;

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

/** One call that wants one name, as it is told to subscribers: its start, and one end. */
export class ObservedAcquire {
  private readonly startedAt = performance.now();

  private constructor(private readonly acquire: LockAcquire) {}

  static start(name: string, { wait, ttl }: ObservedOptions): ObservedAcquire {
    const acquire: LockAcquire = { name, wait, ttl, ...currentOrigin() };
    start.publish({ acquire });
    return new ObservedAcquire(acquire);
  }

  granted(hold: ObservedHold): void {
    const { acquire, waited } = this;
    hold.acquire = acquire;
    const { how, fencingToken } = hold;
    granted.publish({ acquire, waited, how, fencingToken });
  }

  refused(error: unknown): void {
    const { acquire, waited } = this;
    if (error instanceof LockTimeoutError) timeout.publish({ acquire, waited });
    else failed.publish({ acquire, waited, error });
  }

  private get waited(): number {
    return performance.now() - this.startedAt;
  }
}

/** Lets an engine acquire a lock, and tells the subscribers of it. */
export async function observeAcquire<Options extends ObservedOptions, Hold extends ObservedHold>(
  engine: ObservedEngine<Options, Hold>,
  name: string,
  options: Options,
): Promise<Hold> {
  const observed = ObservedAcquire.start(name, options);
  try {
    const hold = await observeLength(engine, name, options);
    observed.granted(hold);
    return hold;
  } catch (error) {
    observed.refused(error);
    throw error;
  }
}

/** Lets an engine acquire a lock, and tells the subscribers only how many wait for it. */
export async function observeLength<Options extends ObservedOptions, Hold>(
  engine: ObservedEngine<Options, Hold>,
  name: string,
  options: Options,
): Promise<Hold> {
  try {
    const asking = engine.acquire(name, options, options.wait === 0);
    tellLength(engine, name);
    return await asking;
  } finally {
    tellLength(engine, name);
  }
}

function tellLength(engine: ObservedEngine<never, unknown>, name: string): void {
  if (queueLength.hasSubscribers) queueLength.publish({ name, length: engine.waitersOf(name) });
}
