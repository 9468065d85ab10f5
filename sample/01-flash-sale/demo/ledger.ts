import type { Database } from '../../support/database/database.js';
import { createTables, ORDERS, STOCK } from '../database/tables.js';

/** The merchant's view of the database: fills the shelf before a sale and counts the orders after it. */
export class Ledger {
  private constructor(private readonly database: Database) {}

  static async open(database: Database): Promise<Ledger> {
    await createTables(database.knex);
    return new Ledger(database);
  }

  /** Sets what is in stock and forgets earlier orders of the product. */
  async restock(sku: string, left: number): Promise<void> {
    await this.database.knex.transaction(async (transaction) => {
      await transaction(ORDERS).where({ sku }).delete();
      await transaction(STOCK).insert({ sku, left }).onConflict('sku').merge();
    });
  }

  /** How many pieces of a product were ordered. */
  async sold(sku: string): Promise<number> {
    const [row] = await this.database.knex(ORDERS).where({ sku }).sum({ pieces: 'quantity' });
    return Number(row?.pieces ?? 0);
  }
}
