import type { Database } from '../../support/database/database.js';
import { ACCOUNTS, createTables, STATEMENTS } from '../accounts/tables.js';

/** The bank's view of the database: opens accounts, and looks what is in them in the end. */
export class BankBooks {
  private constructor(private readonly database: Database) {}

  static async open(database: Database): Promise<BankBooks> {
    await createTables(database.knex);
    return new BankBooks(database);
  }

  /** Opens an account anew and forgets what was in it. */
  async openAccount(id: string, balance: number): Promise<void> {
    await this.database.knex.transaction(async (transaction) => {
      await transaction(STATEMENTS).where({ account: id }).delete();
      await transaction(ACCOUNTS).where({ id }).delete();
      await transaction(ACCOUNTS).insert({ id, balance });
    });
  }

  async balance(id: string): Promise<number> {
    const row = await this.database.knex(ACCOUNTS).where({ id }).first('balance');
    if (!row) throw new Error(`There is no account ${id}`);
    return row.balance;
  }
}
