import { Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import type { Deposit } from './deposit.js';
import { ACCOUNTS, STATEMENTS } from './tables.js';

/** Balances and statements, written by whoever says that he has the lock. */
@Injectable()
export class AccountsRepository {
  constructor(private readonly database: Database) {}

  /** @throws Error when there is no such account. */
  async balance(account: string): Promise<number> {
    const row = await this.database.knex(ACCOUNTS).where({ id: account }).first('balance');
    if (!row) throw new Error(`There is no account ${account}`);
    return row.balance;
  }

  /** Writes the balance that a deposit leads to. */
  async write({ account, amount }: Deposit, balance: number): Promise<void> {
    await this.database.knex.transaction(async (transaction) => {
      await transaction(ACCOUNTS).where({ id: account }).update({ balance });
      await transaction(STATEMENTS).insert({ account, last_deposit: amount }).onConflict('account').merge();
    });
  }
}
