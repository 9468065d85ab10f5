import { Injectable } from '@nestjs/common';
import { Locked } from 'nest-redis-lock';
import type { Bestseller } from './bestseller.interface.js';
import { BestsellersCache } from './bestsellers.cache.js';
import { BestsellersQuery } from './bestsellers.query.js';

/** Answers from the cache; of those who find it empty, one runs the query, over all instances. */
@Injectable()
export class BestsellersService {
  constructor(
    private readonly cache: BestsellersCache,
    private readonly query: BestsellersQuery,
  ) {}

  /** The cache lets one caller of each process rebuild, and the lock one of them. */
  read(category: string): Promise<Bestseller[]> {
    return this.cache.wrap(category, () => this.rebuild(category));
  }

  @Locked('bestsellers:<0>')
  async rebuild(category: string): Promise<Bestseller[]> {
    // The second look: whoever had to wait finds what the holder before has stored.
    const rebuilt = await this.cache.get(category);
    return rebuilt ?? this.cache.set(category, await this.query.run(category));
  }
}
