import { Injectable } from '@nestjs/common';
import { Locked } from 'nest-redis-lock';
import type { Bestseller } from './bestseller.interface.js';
import { BestsellersCache } from './bestsellers.cache.js';
import { BestsellersQuery } from './bestsellers.query.js';

/** For lists that are too large for a result of `@Once`: your cache keeps them, and a lock guards their rebuild. */
@Injectable()
export class LargeListsService {
  constructor(
    private readonly cache: BestsellersCache,
    private readonly query: BestsellersQuery,
  ) {}

  /** The cache admits one caller of each process to the rebuild, and the lock one of these. */
  read(category: string): Promise<Bestseller[]> {
    return this.cache.wrap(category, () => this.rebuild(category));
  }

  @Locked('large-list:<0>')
  async rebuild(category: string): Promise<Bestseller[]> {
    // The second check: after a wait, the previous holder has stored the list.
    const rebuilt = await this.cache.get(category);
    return rebuilt ?? this.cache.set(category, await this.query.run(category));
  }
}
