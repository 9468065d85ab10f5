import { randomUUID } from 'node:crypto';
import { type LockError, LockUnavailableError } from '../errors/lock.error.js';
import { within } from '../primitives/answer-within.js';
import { messageOf } from '../primitives/message-of.js';
import { isGrant } from './grant.js';
import type { LockStore } from './lock-store.js';
import type { StoreNode } from './store-operations.js';

/** Milliseconds after which a check's lock expires if its release is lost. */
const CHECK_LEASE = 2_000;

/** The result of a health check. */
export interface StoreHealth {
  /** Milliseconds until the lock was granted and released, or until the check ended without it. */
  readonly responseTime: number;
  /** Why no lock was granted and released in time; undefined after success. */
  readonly trouble: LockError | undefined;
  /** The nodes of a store that has several. */
  readonly nodes: readonly StoreNode[] | undefined;
}

/**
 * Checks whether a store can grant and release a lock, with a name that no user waits for.
 *
 * Only one request is in flight: during an outage, requests wait in the client, and regular checks must not accumulate
 * them. A later check waits, within its own limit, for the reply to the request in flight.
 */
export class HealthCheck {
  private readonly name = `health:${randomUUID()}`;
  private running: Promise<void> | undefined;

  constructor(private readonly store: LockStore) {}

  /** Checks the store. Always settles within `timeout` ms, and never rejects. */
  async check(timeout: number): Promise<StoreHealth> {
    const startedAt = performance.now();
    const [trouble, nodes] = await Promise.all([this.grantWithin(timeout), this.nodesWithin(timeout)]);
    return { responseTime: performance.now() - startedAt, trouble, nodes };
  }

  private async grantWithin(timeout: number): Promise<LockUnavailableError | undefined> {
    this.running ??= this.grantAndRelease().finally(() => (this.running = undefined));
    const granted = this.running.then(() => undefined);
    try {
      return await within(timeout, granted, () => unhealthy(this.store.trouble, ` within ${timeout} ms`));
    } catch (error) {
      return unhealthy(error);
    }
  }

  private async grantAndRelease(): Promise<void> {
    const { name, store } = this;
    // Without a place, the check never queues. With `endedToken: 0`, it adopts a lock that an earlier check left.
    const reply = await store.acquire({ name, ttl: CHECK_LEASE, tokens: 1, place: undefined, endedToken: 0 });
    if (!isGrant(reply)) throw new Error(`${reply.owner} holds the name that is reserved for health checks.`);
    if (!(await store.release(name, reply.owner))) throw new Error('The lock was lost before its release.');
  }

  private async nodesWithin(timeout: number): Promise<readonly StoreNode[] | undefined> {
    const asked = this.store.operations.nodes?.(timeout);
    return (
      asked &&
      within<readonly StoreNode[] | undefined>(timeout, asked, () => undefined).catch(() => undefined)
    );
  }
}

function unhealthy(cause: unknown, bound = ''): LockUnavailableError {
  return new LockUnavailableError(`Redis did not grant and release a lock${bound}: ${messageOf(cause)}`, {
    cause,
  });
}
