import { randomUUID } from 'node:crypto';
import type { LockError } from '../errors/lock.error.js';
import { LockUnavailableError } from '../errors/lock-unavailable.error.js';
import { within } from '../primitives/answer-within.js';
import { isGrant } from './grant.js';
import type { LockStore, StoreNode } from './lock-store.js';

/** Milliseconds after which a check's lock has gone by itself, should its release get lost. */
const CHECK_LEASE = 2_000;

/** What a look at a store found. */
export interface StoreHealth {
  /** Milliseconds until the lock was granted and released, or until that was given up. */
  readonly responseTime: number;
  /** Why no lock was granted and released in time; undefined where one was. */
  readonly trouble: LockError | undefined;
  /** The nodes of a store that has several. */
  readonly nodes: readonly StoreNode[] | undefined;
}

/**
 * Finds out whether a store can grant and release a lock, with a name of its own that no user waits for.
 *
 * One request at a time: while Redis is away requests are kept until it is back, and a check every few seconds must
 * not heap them up. A later check waits, within its own bound, for the answer to the request that is under way.
 */
export class HealthCheck {
  private readonly name = `health:${randomUUID()}`;
  private running: Promise<void> | undefined;

  constructor(private readonly store: LockStore) {}

  /** Settles within `timeout` ms whatever happens, and never rejects. */
  async look(timeout: number): Promise<StoreHealth> {
    const startedAt = performance.now();
    const [trouble, nodes] = await Promise.all([this.grantWithin(timeout), this.nodesWithin(timeout)]);
    return { responseTime: performance.now() - startedAt, trouble, nodes };
  }

  private async grantWithin(timeout: number): Promise<LockUnavailableError | undefined> {
    this.running ??= this.grantAndRelease().finally(() => (this.running = undefined));
    const granted = this.running.then(() => undefined);
    try {
      return await within(timeout, granted, () => unhealthy(`within ${timeout} ms`, this.store.trouble));
    } catch (error) {
      return unhealthy('', error);
    }
  }

  private async grantAndRelease(): Promise<void> {
    const { name, store } = this;
    // Without a place it is never queued; with nothing spent a lock that an earlier check left is taken up again.
    const reply = await store.acquire({ name, ttl: CHECK_LEASE, tokens: 1, place: undefined, spent: 0 });
    if (!isGrant(reply)) throw new Error(`${reply.owner} has the name that is for probes only.`);
    if (!(await store.release(name, reply.owner))) throw new Error('The lock was gone before its release.');
  }

  private async nodesWithin(timeout: number): Promise<readonly StoreNode[] | undefined> {
    const asked = this.store.nodes?.(timeout);
    return (
      asked &&
      within<readonly StoreNode[] | undefined>(timeout, asked, () => undefined).catch(() => undefined)
    );
  }
}

function unhealthy(bound: string, cause: unknown): LockUnavailableError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = ['Redis did not grant and release a lock', bound].join(' ').trimEnd();
  return new LockUnavailableError(`${message}: ${why}`, { cause });
}
