import { Injectable } from '@nestjs/common';
import { Once } from 'nest-redis-lock';
import type { Bestseller } from './bestseller.interface.js';
import { BestsellersQuery } from './bestsellers.query.js';

/** The query runs once for all instances, and Redis keeps its result for a minute. */
@Injectable()
export class BestsellersService {
  constructor(private readonly query: BestsellersQuery) {}

  @Once('bestsellers:<0>', { keep: '1m' })
  read(category: string): Promise<Bestseller[]> {
    return this.query.run(category);
  }
}
