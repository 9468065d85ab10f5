import type { Database } from '../../support/database/database.js';
import { createTables, QUERY_RUNS, SALES } from '../database/tables.js';

const PRODUCTS = 50;
const SALES_OF_EACH = 20;
/** SQLite takes only so many values in one statement. */
const ROWS_AT_ONCE = 100;

/** The database as its owner sees it: has sales to count, and knows how often they were counted. */
export class SalesRecords {
  private constructor(private readonly database: Database) {}

  static async open(database: Database): Promise<SalesRecords> {
    await createTables(database.knex);
    return new SalesRecords(database);
  }

  /** Replaces the sales of a category. */
  async fill(category: string): Promise<void> {
    const rows = Array.from({ length: PRODUCTS * SALES_OF_EACH }, (_, sale) => {
      const product = sale % PRODUCTS;
      return { sku: `${category}-${product}`, category, quantity: 1 + ((sale * product) % 7) };
    });
    await this.database.knex(SALES).where({ category }).delete();
    await this.database.knex.batchInsert(SALES, rows, ROWS_AT_ONCE);
  }

  /** How often the query has run for a category since {@link forgetRuns}. */
  async runs(category: string): Promise<number> {
    const [row] = await this.database.knex(QUERY_RUNS).where({ category }).count({ runs: '*' });
    return Number(row?.runs ?? 0);
  }

  async forgetRuns(category: string): Promise<void> {
    await this.database.knex(QUERY_RUNS).where({ category }).delete();
  }
}
