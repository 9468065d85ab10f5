import { Injectable } from '@nestjs/common';
import { LockService } from 'nest-redis-lock';
import type { Deposit, Deposits } from './deposit.js';
import { FencedAccountsRepository } from './fenced-accounts.repository.js';

/** Sends the lock's token along, for the database to refuse whoever has been replaced. */
@Injectable()
export class FencedDeposits implements Deposits {
  constructor(
    private readonly locks: LockService,
    private readonly accounts: FencedAccountsRepository,
  ) {}

  // #region tour
  async book(deposit: Deposit): Promise<void> {
    await this.locks.using(`account:${deposit.account}`, async (lock) => {
      const balance = await this.accounts.balance(deposit.account, lock.fencingToken);
      lock.assertHeld(); // saves a statement that would be refused, and all work before it
      await this.accounts.write(deposit, balance + deposit.amount, lock.fencingToken);
    });
  }
  // #endregion
}
