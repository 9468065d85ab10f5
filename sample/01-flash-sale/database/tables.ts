import type { Knex } from 'knex';

export const STOCK = 'flash_sale_stock';
export const ORDERS = 'flash_sale_orders';
export const SALES = 'flash_sale_sales';
export const INSTANCES = 'flash_sale_instances';
export const REPORT = 'flash_sale_report';

/** Times are in milliseconds since 1970; PostgreSQL gives them as strings. */
type Time = number | string;

declare module 'knex/types/tables.js' {
  interface Tables {
    flash_sale_stock: { sku: string; left: number };
    flash_sale_orders: { id: string; sku: string; quantity: number; instance: string; placed_at: Time };
    flash_sale_sales: {
      sku: string;
      stock: number;
      buyers: number;
      sold_out: number;
      failed: number;
      started_at: Time;
      ended_at: Time | null;
    };
    flash_sale_instances: { name: string; url: string; pid: number };
    flash_sale_report: { page: number; worker: string; token: number };
  }
}

const TABLES: Record<string, (table: Knex.CreateTableBuilder) => void> = {
  [STOCK]: (table) => {
    table.string('sku', 64).primary();
    table.integer('left').notNullable();
  },
  [ORDERS]: (table) => {
    table.uuid('id').primary();
    table.string('sku', 64).notNullable().index();
    table.integer('quantity').notNullable();
    table.string('instance', 64).notNullable();
    table.bigInteger('placed_at').notNullable();
  },
  [SALES]: (table) => {
    table.string('sku', 64).primary();
    table.integer('stock').notNullable();
    table.integer('buyers').notNullable();
    table.integer('sold_out').notNullable().defaultTo(0);
    table.integer('failed').notNullable().defaultTo(0);
    table.bigInteger('started_at').notNullable();
    table.bigInteger('ended_at');
  },
  [INSTANCES]: (table) => {
    table.string('name', 64).primary();
    table.string('url', 256).notNullable();
    table.integer('pid').notNullable();
  },
  [REPORT]: (table) => {
    table.integer('page').primary();
    table.string('worker', 16).notNullable();
    table.bigInteger('token').notNullable();
  },
};

/** Creates the tables where they are missing: what a migration does for an application of yours. */
export async function createTables(knex: Knex): Promise<void> {
  for (const [name, columns] of Object.entries(TABLES)) {
    if (!(await knex.schema.hasTable(name))) await knex.schema.createTable(name, columns);
  }
}
