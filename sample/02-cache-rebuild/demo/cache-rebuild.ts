import type { Redis } from 'ioredis';
import { cacheKey } from '../bestsellers/bestsellers.cache.js';
import { expire } from './expire.js';
import { headers, sendReaders } from './readers.js';
import type { SalesRecords } from './sales-records.js';

const CATEGORY = 'sneakers';
/** Where the list is: in the cache, and as the result of `@Once`. */
const KEYS = [cacheKey(CATEGORY), `lock:{bestsellers:${CATEGORY}}:done`];

/** What one burst of readers cost. */
export interface Burst {
  /** Runs of the query, as counted in the database. */
  readonly queries: number;
  /** Locks that the instances acquired. */
  readonly grants: number;
  /** Readers who got an error, or no answer; all of them when their answers differ. */
  readonly failed: number;
  /** Milliseconds until the last reader had an answer. */
  readonly last: number;
}

/** A burst while the list is cached, and one right after it has expired. */
export interface RebuildResult {
  readonly path: string;
  readonly cached: Burst;
  readonly expired: Burst;
}

export interface CacheRebuildOptions {
  readonly urls: readonly string[];
  readonly readers: number;
  readonly redis: Redis;
  readonly records: SalesRecords;
  readonly signal: AbortSignal;
}

/** Lets readers come to a route before and after the expiry of what it serves, and counts the queries. */
export class CacheRebuild {
  constructor(private readonly options: CacheRebuildOptions) {}

  async run(route: string): Promise<RebuildResult> {
    const { urls, redis, records, signal } = this.options;
    const path = `${route}/${CATEGORY}`;
    await records.fill(CATEGORY);
    await expire(redis, KEYS);
    const {
      answers: [answer],
    } = await sendReaders({ urls, path, count: 1, signal });

    const cached = await this.burst(path, answer);
    await expire(redis, KEYS);
    const expired = await this.burst(path, answer);
    return { path, cached, expired };
  }

  private async burst(path: string, answer: string | undefined): Promise<Burst> {
    const { urls, readers, records, signal } = this.options;
    await records.forgetRuns(CATEGORY);
    const grantsBefore = await this.grants();
    const { answers, failed, last } = await sendReaders({ urls, path, count: readers, signal });
    const alike = answers.every((other) => other === answer);
    return {
      queries: await records.runs(CATEGORY),
      grants: (await this.grants()) - grantsBefore,
      failed: alike ? failed : readers,
      last,
    };
  }

  /** The locks that all instances have acquired so far. */
  private async grants(): Promise<number> {
    const { urls, signal } = this.options;
    const counts = await Promise.all(
      urls.map(async (url) => Number(await (await fetch(`${url}/grants`, { headers, signal })).text())),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
