import { Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import { fencedRead } from '../fencing/fenced-read.js';
import { fencedUpdate } from '../fencing/fenced-update.js';
import { fencedUpsert } from '../fencing/fenced-upsert.js';
import type { Deposit } from './deposit.js';
import { type AccountRow, ACCOUNTS, STATEMENTS } from './tables.js';

/** Balances and statements that refuse holders who have been replaced. */
@Injectable()
export class FencedAccountsRepository {
  constructor(private readonly database: Database) {}

  /** @throws StaleTokenError when a later holder was here. */
  async balance(account: string, token: number): Promise<number> {
    const row = this.database.knex(ACCOUNTS).where({ id: account });
    return (await fencedRead<AccountRow>(row, token)).balance;
  }

  /**
   * Writes the balance that a deposit leads to.
   *
   * @throws StaleTokenError when a later holder was here.
   */
  async write({ account, amount }: Deposit, balance: number, token: number): Promise<void> {
    await this.database.knex.transaction(async (transaction) => {
      await fencedUpdate(transaction(ACCOUNTS).where({ id: account }), { balance }, token);
      const values = { account, last_deposit: amount };
      await fencedUpsert(transaction, { table: STATEMENTS, key: 'account', values }, token);
    });
  }
}
