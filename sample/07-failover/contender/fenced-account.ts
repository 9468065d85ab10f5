import { Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import type { Topology } from './topology.js';

const ACCOUNTS = 'failover_accounts';

declare module 'knex/types/tables.js' {
  interface Tables {
    failover_accounts: { id: string; token: number; writes: number };
  }
}

/** What the locks guard: a row for each topology that refuses tokens below the greatest it has seen. */
@Injectable()
export class FencedAccount {
  constructor(private readonly database: Database) {}

  async create(accounts: readonly Topology[]): Promise<void> {
    const { knex } = this.database;
    await knex.schema.dropTableIfExists(ACCOUNTS);
    await knex.schema.createTable(ACCOUNTS, (table) => {
      table.string('id', 16).primary();
      table.bigInteger('token').notNullable();
      table.integer('writes').notNullable();
    });
    await knex(ACCOUNTS).insert(accounts.map((id) => ({ id, token: 0, writes: 0 })));
  }

  /** Resolves to false where a later holder was here. */
  async write(account: Topology, token: number): Promise<boolean> {
    const rows = await this.database
      .knex(ACCOUNTS)
      .where({ id: account })
      .andWhere('token', '<=', token)
      .update({ token })
      .increment('writes', 1);
    return rows === 1;
  }
}
