import type { Database } from '../../support/database/database.js';
import { ORDERS, SALES, STOCK } from '../database/tables.js';

/** A product on sale. */
export interface Offer {
  readonly sku: string;
  readonly stock: number;
  readonly buyers: number;
}

/** What the buyers saw who did not get an order. */
export interface Refusals {
  readonly soldOut: number;
  readonly failed: number;
}

/** The merchant's view of the database: fills the shelf before a sale and counts the orders after it. */
export class Ledger {
  constructor(private readonly database: Database) {}

  /** Sets what is in stock and forgets earlier orders of the product. */
  async restock(sku: string, left: number): Promise<void> {
    await this.database.knex.transaction(async (transaction) => {
      await transaction(ORDERS).where({ sku }).delete();
      await transaction(STOCK).insert({ sku, left }).onConflict('sku').merge();
    });
  }

  /** Records that a sale of the product begins, in place of an earlier one. */
  async openSale({ sku, stock, buyers }: Offer): Promise<void> {
    await this.restock(sku, stock);
    const sale = { sku, stock, buyers, sold_out: 0, failed: 0, started_at: Date.now(), ended_at: null };
    await this.database.knex(SALES).insert(sale).onConflict('sku').merge();
  }

  async closeSale(sku: string, { soldOut, failed }: Refusals): Promise<void> {
    const end = { sold_out: soldOut, failed, ended_at: Date.now() };
    await this.database.knex(SALES).where({ sku }).update(end);
  }

  /** How many pieces of a product were ordered. */
  async sold(sku: string): Promise<number> {
    const [row] = await this.database.knex(ORDERS).where({ sku }).sum({ pieces: 'quantity' });
    return Number(row?.pieces ?? 0);
  }
}
