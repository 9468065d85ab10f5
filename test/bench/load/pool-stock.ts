import type { RedisAddress } from '../contestant.js';
import { LoadPool } from './load-pool.js';

/**
 * The load processes of all contestants, kept from one case to the next while that wants as many of each.
 *
 * Starting them takes longer than a round does.
 */
export class PoolStock implements AsyncDisposable {
  private readonly pools = new Map<string, LoadPool>();
  private kind = '';

  /** @throws Error when the contestant cannot be opened */
  async get(id: string, processes: number, redis: RedisAddress): Promise<LoadPool> {
    const kind = `${processes} at ${redis.port}`;
    // So that no more than one set of processes takes memory.
    if (kind !== this.kind) await this.clear();
    this.kind = kind;
    const known = this.pools.get(id);
    if (known) return known;
    const pool = await LoadPool.start(id, processes, redis);
    this.pools.set(id, pool);
    return pool;
  }

  /** Ends the processes of one contestant, which are in no state to go on. */
  async discard(id: string): Promise<void> {
    const pool = this.pools.get(id);
    this.pools.delete(id);
    await pool?.close();
  }

  async clear(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(pools.map((pool) => pool.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
  }
}
