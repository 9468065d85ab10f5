import { Controller, Get, Param } from '@nestjs/common';
import type { Bestseller } from './bestseller.interface.js';
import { BestsellersCache } from './bestsellers.cache.js';
import { BestsellersQuery } from './bestsellers.query.js';
import { LargeListsService } from './large-lists.service.js';

/** The same lists by other means, to compare. */
@Controller()
export class AlternativesController {
  constructor(
    private readonly large: LargeListsService,
    private readonly cache: BestsellersCache,
    private readonly query: BestsellersQuery,
  ) {}

  /** Everybody who finds the cache empty runs the query. */
  @Get('unlocked/bestsellers/:category')
  async unlocked(@Param('category') category: string): Promise<Bestseller[]> {
    const cached = await this.cache.get(category);
    return cached ?? this.cache.set(category, await this.query.run(category));
  }

  /** What cache-manager does by itself: one query in each instance. */
  @Get('wrapped/bestsellers/:category')
  wrapped(@Param('category') category: string): Promise<Bestseller[]> {
    return this.cache.wrap(category, () => this.query.run(category));
  }

  /** One query, but every reader acquires the lock in turn for its second check. */
  @Get('locked/bestsellers/:category')
  async locked(@Param('category') category: string): Promise<Bestseller[]> {
    return (await this.cache.get(category)) ?? this.large.rebuild(category);
  }

  /** One query, and one reader of each process acquires the lock. */
  @Get('both/bestsellers/:category')
  both(@Param('category') category: string): Promise<Bestseller[]> {
    return this.large.read(category);
  }
}
