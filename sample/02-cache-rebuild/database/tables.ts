import type { Knex } from 'knex';

export const SALES = 'cache_rebuild_sales';
export const QUERY_RUNS = 'cache_rebuild_query_runs';

declare module 'knex/types/tables.js' {
  interface Tables {
    cache_rebuild_sales: { sku: string; category: string; quantity: number };
    cache_rebuild_query_runs: { id: string; category: string };
  }
}

/** Creates the tables where they are missing: what a migration does for an application of yours. */
export async function createTables(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasTable(SALES))) {
    await knex.schema.createTable(SALES, (table) => {
      table.string('sku', 64).notNullable();
      table.string('category', 64).notNullable().index();
      table.integer('quantity').notNullable();
    });
  }
  if (!(await knex.schema.hasTable(QUERY_RUNS))) {
    await knex.schema.createTable(QUERY_RUNS, (table) => {
      table.uuid('id').primary();
      table.string('category', 64).notNullable();
    });
  }
}
