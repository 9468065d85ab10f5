import { Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import { ORDERS, STOCK } from '../database/tables.js';
import type { Order } from './order.interface.js';

/** What is in stock, and the orders that were taken out of it. */
@Injectable()
export class StockRepository {
  constructor(private readonly database: Database) {}

  /** How many of a product are left; undefined when the product is unknown. */
  async left(sku: string): Promise<number | undefined> {
    const row = await this.database.knex(STOCK).where({ sku }).first('left');
    return row?.left;
  }

  /** Writes the order and what it leaves in stock, both or neither. */
  async sell(order: Order, left: number): Promise<void> {
    await this.database.knex.transaction(async (transaction) => {
      await transaction(STOCK).where({ sku: order.sku }).update({ left });
      await transaction(ORDERS).insert(order);
    });
  }
}
