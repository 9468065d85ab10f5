import type { Knex } from 'knex';

export const ACCOUNTS = 'fenced_writes_accounts';
export const STATEMENTS = 'fenced_writes_statements';

export interface AccountRow {
  readonly id: string;
  readonly balance: number;
  readonly fencing_token: number;
}

declare module 'knex/types/tables.js' {
  interface Tables {
    fenced_writes_accounts: AccountRow;
    fenced_writes_statements: { account: string; last_deposit: number; fencing_token: number };
  }
}

/** Creates the tables where they are missing. A token has 51 bits today: its column needs 64. */
export async function createTables(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasTable(ACCOUNTS))) {
    await knex.schema.createTable(ACCOUNTS, (table) => {
      table.string('id', 64).primary();
      table.integer('balance').notNullable();
      table.bigInteger('fencing_token').notNullable().defaultTo(0);
    });
  }
  if (!(await knex.schema.hasTable(STATEMENTS))) {
    await knex.schema.createTable(STATEMENTS, (table) => {
      table.string('account', 64).primary();
      table.integer('last_deposit').notNullable();
      table.bigInteger('fencing_token').notNullable().defaultTo(0);
    });
  }
}
