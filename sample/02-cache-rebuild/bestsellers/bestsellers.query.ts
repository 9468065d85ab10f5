import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import { QUERY_RUNS, SALES } from '../database/tables.js';
import type { Bestseller } from './bestseller.interface.js';

const LENGTH = 10;
/** Milliseconds that the query takes at least. */
const QUERY_TIME = Number(process.env.QUERY_TIME ?? 500);

/** The expensive query. It leaves a row for each of its runs, so that the database itself can tell how many there were. */
@Injectable()
export class BestsellersQuery {
  constructor(private readonly database: Database) {}

  async run(category: string): Promise<Bestseller[]> {
    await this.database.knex(QUERY_RUNS).insert({ id: randomUUID(), category });
    const rows = await this.database.knex.transaction(async (transaction) => {
      const found = await transaction(SALES)
        .where({ category })
        .select('sku')
        .sum({ pieces: 'quantity' })
        .groupBy('sku')
        .orderBy([{ column: 'pieces', order: 'desc' }, 'sku'])
        .limit(LENGTH);
      // Stands for the time of a table that is large, with one of the few connections in use.
      await delay(QUERY_TIME);
      return found;
    });
    return rows.map(({ sku, pieces }) => ({ sku, pieces: Number(pieces) }));
  }
}
