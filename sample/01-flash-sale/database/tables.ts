import type { Knex } from 'knex';

export const STOCK = 'flash_sale_stock';
export const ORDERS = 'flash_sale_orders';

declare module 'knex/types/tables.js' {
  interface Tables {
    flash_sale_stock: { sku: string; left: number };
    flash_sale_orders: { id: string; sku: string; quantity: number };
  }
}

/** Creates the tables where they are missing: what a migration does for an application of yours. */
export async function createTables(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasTable(STOCK))) {
    await knex.schema.createTable(STOCK, (table) => {
      table.string('sku', 64).primary();
      table.integer('left').notNullable();
    });
  }
  if (!(await knex.schema.hasTable(ORDERS))) {
    await knex.schema.createTable(ORDERS, (table) => {
      table.uuid('id').primary();
      table.string('sku', 64).notNullable().index();
      table.integer('quantity').notNullable();
    });
  }
}
