import { LockTimeoutError } from '../errors/lock-timeout.error.js';
import { tryTo } from '../primitives/try-to.js';
import type { CallOrigin } from './call-origin.js';
import { hasHoldSubscribers, type ObservedHold } from './hold.channel.js';
import { lockChannel } from './lock-channel.js';
import type { LockAcquire } from './lock-events.interface.js';
import { ResultShared } from './once.channel.js';

const start = lockChannel('nest-redis-lock:acquire:start');
const granted = lockChannel('nest-redis-lock:acquire:granted');
const timeout = lockChannel('nest-redis-lock:acquire:timeout');
const shared = lockChannel('nest-redis-lock:acquire:shared');
const failed = lockChannel('nest-redis-lock:acquire:failed');
const queueLength = lockChannel('nest-redis-lock:queue:length');

/** The part of an engine that {@link observeAcquire} uses. */
interface ObservedEngine<Options, Hold> {
  acquire(name: string, options: Options): Promise<Hold>;
  /** Number of callers that wait for a name. */
  waitersOf(name: string): number;
}

/** The options that subscribers receive. */
type ObservedOptions = Pick<LockAcquire, 'wait' | 'ttl' | 'label'> & { readonly origin: CallOrigin };

/** Whether a channel of acquires or of their holds has a subscriber. */
export function hasAcquireSubscribers(): boolean {
  return (
    start.hasSubscribers ||
    granted.hasSubscribers ||
    timeout.hasSubscribers ||
    shared.hasSubscribers ||
    failed.hasSubscribers ||
    queueLength.hasSubscribers ||
    hasHoldSubscribers()
  );
}

/** Publishes the start and the end of one call for one name. */
class ObservedAcquire {
  private readonly startedAt = performance.now();

  private constructor(private readonly acquire: LockAcquire) {}

  static start(name: string, { wait, ttl, label, origin }: ObservedOptions): ObservedAcquire {
    const acquire: LockAcquire = { name, wait, ttl, label, ...origin };
    start.publish({ acquire });
    return new ObservedAcquire(acquire);
  }

  granted(hold: ObservedHold): void {
    const { acquire, waited } = this;
    hold.acquire = acquire;
    const { how, fencingToken } = hold;
    granted.publish({ acquire, waited, how, fencingToken });
  }

  rejected(error: unknown): void {
    const { acquire, waited } = this;
    if (error instanceof LockTimeoutError) timeout.publish({ acquire, waited, holder: error.holder });
    else if (tryTo(() => error instanceof ResultShared)) shared.publish({ acquire, waited });
    else failed.publish({ acquire, waited, error });
  }

  private get waited(): number {
    return performance.now() - this.startedAt;
  }
}

/**
 * Publishes a call for several names: for each name its start, and the end of the whole call. A name that was granted
 * and released while the call waited for others is not a hold, and is not published.
 */
export class SeveralAcquires {
  private readonly acquires = new Map<string, ObservedAcquire>();

  constructor(private readonly options: ObservedOptions) {}

  /** Publishes the start for a name, once. */
  start(name: string): void {
    if (!this.acquires.has(name)) this.acquires.set(name, ObservedAcquire.start(name, this.options));
  }

  granted(name: string, hold: ObservedHold): void {
    this.acquires.get(name)?.granted(hold);
  }

  rejected(error: unknown): void {
    for (const acquire of this.acquires.values()) acquire.rejected(error);
  }
}

/** Acquires a lock from the engine and publishes it. */
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
    observed.rejected(error);
    throw error;
  }
}

/** Acquires a lock from the engine and publishes only the length of its queue. */
export async function observeLength<Options extends ObservedOptions, Hold>(
  engine: ObservedEngine<Options, Hold>,
  name: string,
  options: Options,
): Promise<Hold> {
  try {
    const asking = engine.acquire(name, options);
    publishLength(engine, name);
    return await asking;
  } finally {
    publishLength(engine, name);
  }
}

function publishLength(engine: ObservedEngine<never, unknown>, name: string): void {
  if (queueLength.hasSubscribers) queueLength.publish({ name, length: engine.waitersOf(name) });
}
