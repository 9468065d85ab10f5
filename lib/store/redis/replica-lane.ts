import type { Redis } from 'ioredis';
import type { Clock } from '../../engine/clock.js';
import { WakeUp } from '../../engine/wake-up.js';
import { replicateScript } from '../../scripts/replicate.script.js';
import { abandon, type RedisConnection } from './connection.js';
import { storeError } from './redis-error.js';

/** As many leases as one script call takes. */
const BATCH = 500;

/** A lease that replicas have to know of. */
export interface ReplicatedLease {
  readonly key: string;
  /** The key of shared holders. */
  readonly shared: string;
  readonly owner: string;
  /** Milliseconds, as the extend script takes them: with `=` before them they shorten a longer lease, too. */
  readonly ttl: string;
}

/** The lease was the owner's; or it was not; or undefined: it was, but too few replicas learnt of it in time. */
export type Confirmation = boolean | undefined;

interface Request {
  readonly lease: ReplicatedLease;
  readonly due: number;
  resolve(confirmation: Confirmation): void;
  reject(error: Error): void;
}

/**
 * Leases that `min` replicas have to know of, on a connection of its own, since WAIT blocks it.
 *
 * WAIT counts the replicas that have what *its own connection* wrote last. So the leases are written once more on
 * this connection, right before it; replication keeps the order of writes, and whoever has this one has the grant.
 * The script looks at the owner, too: after a failover this connection and the one that asked for the lock may be
 * at different servers for a moment. Requests that come while a WAIT is under way share the next one.
 */
export class ReplicaLane {
  private readonly client: Redis;
  private readonly requests = new Set<Request>();
  private readonly wakeUp: WakeUp;
  private flying = false;
  /** Redis has run the script of the current flight, so what is missing is the replicas. */
  private written = false;
  /** When the connection counts as dead for want of the flight's answer. */
  private answerDue = Infinity;

  constructor(
    private readonly min: number,
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
    private readonly commandTimeout: number,
  ) {
    this.wakeUp = new WakeUp(clock, () => clock.afterInput(() => this.expire(clock.now())));
    this.client = connection.confirmer();
    this.client.on('ready', () => void this.fly());
    this.client.connect().catch(() => undefined);
  }

  /** @throws Error (rejects) when Redis did not run the request within `timeout` ms */
  confirm(lease: ReplicatedLease, timeout: number): Promise<Confirmation> {
    return new Promise((resolve, reject) => {
      const due = this.clock.now() + timeout;
      this.requests.add({ lease, due, resolve, reject });
      this.wakeUp.at(due);
      // Together with what else was answered in this turn.
      if (!this.flying) this.clock.afterInput(() => void this.fly());
    });
  }

  private async fly(): Promise<void> {
    if (this.flying) return;
    this.flying = true;
    while (this.requests.size > 0 && this.client.status === 'ready') {
      await this.ask([...this.requests].slice(0, BATCH));
      this.written = false;
      this.answerDue = Infinity;
    }
    this.flying = false;
  }

  private async ask(batch: readonly Request[]): Promise<void> {
    const now = this.clock.now();
    const timeout = Math.max(1, Math.ceil(Math.max(...batch.map(({ due }) => due)) - now));
    this.answerDue = now + timeout + this.commandTimeout;
    this.wakeUp.at(this.answerDue);
    const keys = batch.flatMap(({ lease }) => [lease.key, lease.shared]);
    const args = batch.flatMap(({ lease }) => [lease.owner, lease.ttl]);
    try {
      const written = this.client.eval(replicateScript.lua, keys.length, ...keys, ...args);
      const [, replicas] = await Promise.all([
        written.then((reply) => this.tellOthers(batch, reply as readonly (number | string)[])),
        this.client.wait(this.min, timeout),
      ]);
      const confirmation = replicas >= this.min ? true : undefined;
      for (const request of batch) if (this.requests.delete(request)) request.resolve(confirmation);
    } catch (error) {
      const problem = storeError(error, this.connection.redaction);
      this.connection.leaveIfDemoted(problem);
      for (const request of batch) if (this.requests.delete(request)) request.reject(problem);
    }
  }

  /** Whose lease is gone need not wait for replicas. */
  private tellOthers(batch: readonly Request[], owned: readonly (number | string)[]): void {
    this.written = true;
    batch.forEach((request, i) => {
      if (Number(owned[i]) !== 1 && this.requests.delete(request)) request.resolve(false);
    });
  }

  private expire(now: number): void {
    if (now >= this.answerDue) abandon(this.client.stream);
    else if (this.answerDue < Infinity) this.wakeUp.at(this.answerDue);
    for (const request of this.requests) {
      if (request.due > now) this.wakeUp.at(request.due);
      else if (this.requests.delete(request)) this.refuse(request);
    }
  }

  /** What waits behind a flight was written later: replicas that lack the flight lack it, too. */
  private refuse(request: Request): void {
    if (this.written) return request.resolve(undefined);
    request.reject(
      new Error('Redis did not answer in time on the connection that waits for replicas.', {
        cause: this.connection.trouble,
      }),
    );
  }
}
