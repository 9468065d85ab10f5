import type { Clock } from '../../../primitives/clock.js';
import { AnswerWakeUp } from '../../../primitives/wake-up.js';
import type { Extended } from '../../lock-store.js';
import { extendScript } from '../../scripts/extend.script.js';
import type { RedisConnection } from '../connection/connection.js';
import { isOfOtherType } from '../connection/redis-error.js';
import type { RedisClient } from '../connection/redis-client.js';
import { integer, list } from '../connection/script-reply.js';

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

interface Request {
  readonly lease: ReplicatedLease;
  readonly due: number;
  resolve(extended: Extended): void;
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
  private readonly client: RedisClient;
  private readonly requests = new Set<Request>();
  private readonly wakeUp: AnswerWakeUp;
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
    this.wakeUp = new AnswerWakeUp(clock, (now) => this.expire(now));
    this.client = connection.confirmer();
    this.client.on('ready', () => void this.fly());
    this.client.connect();
  }

  /** @throws Error (rejects) when Redis did not run the request within `timeout` ms */
  confirm(lease: ReplicatedLease, timeout: number): Promise<Extended> {
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
    while (this.requests.size > 0 && this.client.state === 'ready') {
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
    const args = [...batch.flatMap(({ lease }) => [lease.owner, lease.ttl]), 'write'];
    try {
      const written = this.client.evaluate({ script: extendScript, keys, args }, 'text');
      const [owned, replicas] = await Promise.all([
        written.then((reply) => this.tellOthers(batch, list(reply, batch.length))),
        this.client.wait(this.min, timeout),
      ]);
      batch.forEach((request, i) => {
        if (this.requests.delete(request)) request.resolve(replicas >= this.min ? owned[i] : undefined);
      });
    } catch (error) {
      const problem = this.connection.problemOf(error);
      for (const request of batch) if (this.requests.delete(request)) request.reject(problem);
    }
  }

  /** Whose lease is gone need not wait for replicas. */
  private tellOthers(batch: readonly Request[], replies: readonly unknown[]): readonly Extended[] {
    this.written = true;
    return batch.map((request, i) => {
      const reply = replies[i];
      if (reply instanceof Error && !isOfOtherType(reply)) {
        if (this.requests.delete(request)) request.reject(this.connection.problemOf(reply));
        return undefined;
      }
      const extended = reply instanceof Error ? 0 : integer(reply);
      if (extended === 0 && this.requests.delete(request)) request.resolve(0);
      return extended;
    });
  }

  private expire(now: number): void {
    if (now >= this.answerDue) this.client.cut();
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
