import { Cache } from '@nestjs/cache-manager';
import { Injectable } from '@nestjs/common';
import type { Bestseller } from './bestseller.interface.js';

/** Milliseconds for which a list is served without a query. */
const TTL = 60_000;

/** The key of a list of the cache in Redis. */
export function cacheKey(category: string): string {
  return `cache-rebuild:bestsellers:${category}`;
}

/** The lists as Redis keeps them for all instances. */
@Injectable()
export class BestsellersCache {
  constructor(private readonly cache: Cache) {}

  get(category: string): Promise<Bestseller[] | undefined> {
    return this.cache.get(cacheKey(category));
  }

  set(category: string, list: Bestseller[]): Promise<Bestseller[]> {
    return this.cache.set(cacheKey(category), list, TTL);
  }

  /** The cached list, else what `query` finds. It runs once for all who ask at once, but in each process. */
  wrap(category: string, query: () => Promise<Bestseller[]>): Promise<Bestseller[]> {
    return this.cache.wrap(cacheKey(category), query, TTL);
  }
}
