import type { Clock } from '../../primitives/clock.js';
import { AnswerWakeUp } from '../../primitives/wake-up.js';
import type { ReplicaDemand } from '../grant.js';
import type { Extended, Extension } from '../lock-store.js';
import type { RedisConnection } from './connection/connection.js';
import { isPermanent } from './connection/redis-error.js';
import { extendEach } from './extend-leases.js';
import type { KeySpace } from './key-space.js';
import type { RedisClient } from './connection/redis-client.js';

/** Maximum number of leases in one script call. */
const BATCH = 500;

interface Request {
  readonly extension: Extension;
  readonly due: number;
  resolve(extended: Extended): void;
  reject(error: Error): void;
}

/**
 * Lets `min` replicas confirm leases, on a separate connection, because WAIT blocks it.
 *
 * WAIT counts the replicas that have the last write of *its own connection*. The lane therefore writes the leases once
 * more on this connection, right before WAIT. Replication keeps the order of writes, so a replica with this write has
 * the grant. The script compares the owner: after a failover, this connection and the command connection may lead to
 * different servers for a moment. Requests during a WAIT share the next one.
 */
class ReplicaLane {
  private readonly client: RedisClient;
  private readonly requests = new Set<Request>();
  private readonly wakeUp: AnswerWakeUp;
  private flying = false;
  /** Whether Redis has run the script of the current flight, so that only replicas are missing. */
  private written = false;
  /** When the connection counts as dead without a reply to the flight. */
  private answerDue = Infinity;

  constructor(
    private readonly min: number,
    private readonly keySpace: KeySpace,
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
  confirm(extension: Extension, timeout: number): Promise<Extended> {
    return new Promise((resolve, reject) => {
      const due = this.clock.now() + timeout;
      this.requests.add({ extension, due, resolve, reject });
      this.wakeUp.at(due);
      // Deferred, to share the flight with other replies of this tick.
      if (!this.flying) this.clock.afterInput(() => void this.fly());
    });
  }

  private async fly(): Promise<void> {
    if (this.flying) return;
    this.flying = true;
    while (this.requests.size > 0 && this.client.state === 'ready') {
      await this.ask([...this.requests].slice(0, BATCH));
    }
    this.flying = false;
  }

  private async ask(batch: readonly Request[]): Promise<void> {
    const now = this.clock.now();
    const timeout = Math.max(1, Math.ceil(Math.max(...batch.map(({ due }) => due)) - now));
    this.answerDue = now + timeout + this.commandTimeout;
    this.wakeUp.at(this.answerDue);
    const extensions = batch.map(({ extension }) => extension);
    const written = extendEach(extensions, {
      keySpace: this.keySpace,
      run: (script, keys, args) => this.client.evaluate({ script, keys, args: [...args, 'write'] }, 'text'),
      maxBatch: BATCH,
    });
    try {
      const [extended, replicas] = await Promise.all([
        Promise.allSettled(written).then((answers) => this.settleUnextended(batch, answers)),
        this.client.wait(this.min, timeout),
      ]);
      if (!extended) {
        for (const request of batch) if (this.requests.has(request)) await this.ask([request]);
      } else
        batch.forEach((request, i) => {
          if (this.requests.delete(request)) request.resolve(replicas >= this.min ? extended[i] : undefined);
        });
    } catch (error) {
      for (const request of batch) this.reject(request, error);
    }
    this.written = false;
    this.answerDue = Infinity;
  }

  /**
   * Settles the requests whose lease is lost, and those that Redis refused, without waiting for replicas. Returns
   * undefined if a single request, such as one with a forbidden key, may have caused the refusal of all.
   */
  private settleUnextended(
    batch: readonly Request[],
    answers: readonly PromiseSettledResult<Extended>[],
  ): readonly Extended[] | undefined {
    if (batch.length > 1 && answers.every((each) => each.status === 'rejected' && isPermanent(each.reason)))
      return undefined;
    this.written = answers.some(({ status }) => status === 'fulfilled');
    return batch.map((request, i) => {
      const answer = answers[i];
      if (answer?.status === 'rejected') this.reject(request, answer.reason);
      const extended = answer?.status === 'fulfilled' ? answer.value : undefined;
      if (extended === 0 && this.requests.delete(request)) request.resolve(0);
      return extended;
    });
  }

  private reject(request: Request, error: unknown): void {
    if (this.requests.delete(request)) request.reject(this.connection.problemOf(error));
  }

  private expire(now: number): void {
    if (now >= this.answerDue) this.client.cut();
    else if (this.answerDue < Infinity) this.wakeUp.at(this.answerDue);
    for (const request of this.requests) {
      if (request.due > now) this.wakeUp.at(request.due);
      else if (this.requests.delete(request)) this.refuse(request);
    }
  }

  /**
   * Rejects a request. Replicas that lack the current flight also lack the requests behind it, which were written
   * later.
   */
  private refuse(request: Request): void {
    if (this.written) return request.resolve(undefined);
    request.reject(
      new Error('Redis did not answer in time on the connection that waits for replicas.', {
        cause: this.connection.trouble,
      }),
    );
  }
}

/** Lets replicas confirm leases before they count. Opens one connection for each required number of replicas. */
export class Replication {
  private readonly lanes = new Map<number, ReplicaLane>();

  constructor(
    private readonly keySpace: KeySpace,
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
    private readonly commandTimeout: number,
  ) {}

  /** Extends a lease; resolves when the replicas have it, or their time has passed. */
  confirm(extension: Extension, { min, timeout }: ReplicaDemand): Promise<Extended> {
    let lane = this.lanes.get(min);
    if (!lane) {
      lane = new ReplicaLane(min, this.keySpace, this.connection, this.clock, this.commandTimeout);
      this.lanes.set(min, lane);
    }
    return lane.confirm(extension, timeout);
  }
}
