import { Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import { ORDERS, STOCK } from '../database/tables.js';
import { INSTANCE_NAME } from '../instances/instance-name.js';
import type { Order } from './order.interface.js';

/** An order, and what it leaves in stock. */
export interface Withdrawal {
  readonly order: Order;
  readonly left: number;
}

/** What is in stock, and the orders that were taken out of it. */
@Injectable()
export class StockRepository {
  constructor(private readonly database: Database) {}

  /** How many of a product are left; undefined when the product is unknown. */
  async left(sku: string): Promise<number | undefined> {
    const row = await this.database.knex(STOCK).where({ sku }).first('left');
    return row?.left;
  }

  /**
   * Writes the orders and what they leave in stock, all or nothing.
   *
   * The transaction opens and commits inside the caller's lock. With the lock inside a transaction the next buyer would come
   * between its release and the commit, and read the old stock.
   */
  async sell(withdrawals: readonly Withdrawal[]): Promise<void> {
    await this.database.knex.transaction(async (transaction) => {
      for (const { order, left } of withdrawals) {
        await transaction(STOCK).where({ sku: order.sku }).update({ left });
        await transaction(ORDERS).insert({ ...order, instance: INSTANCE_NAME, placed_at: Date.now() });
      }
    });
  }
}
