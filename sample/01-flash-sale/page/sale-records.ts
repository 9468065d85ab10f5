import { Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import { ORDERS, SALES } from '../database/tables.js';
import type { SalePicture } from './picture.interface.js';

/** The sales, counted from the orders in the database and not from what anybody believes to be left. */
@Injectable()
export class SaleRecords {
  constructor(private readonly database: Database) {}

  async of(sku: string): Promise<SalePicture | undefined> {
    const sale = await this.database.knex(SALES).where({ sku }).first();
    if (sale === undefined) return undefined;
    const startedAt = Number(sale.started_at);
    const byInstance: Record<string, number> = {};
    const timeline: [number, number][] = [[0, sale.stock]];
    let left = sale.stock;
    for (const { instance, placedAt, pieces } of await this.orders(sku)) {
      left -= pieces;
      byInstance[instance] = (byInstance[instance] ?? 0) + pieces;
      timeline.push([placedAt - startedAt, left]);
    }
    return {
      stock: sale.stock,
      buyers: sale.buyers,
      sold: sale.stock - left,
      soldOut: sale.sold_out,
      failed: sale.failed,
      startedAt,
      endedAt: sale.ended_at === null ? null : Number(sale.ended_at),
      byInstance,
      timeline,
    };
  }

  private async orders(sku: string) {
    const rows = await this.database
      .knex(ORDERS)
      .where({ sku })
      .groupBy('placed_at', 'instance')
      .orderBy('placed_at')
      .select('placed_at', 'instance')
      .sum({ pieces: 'quantity' });
    return rows.map(({ placed_at, instance, pieces }) => ({
      instance,
      placedAt: Number(placed_at),
      pieces: Number(pieces),
    }));
  }
}
