import { Injectable } from '@nestjs/common';
import { LockService } from 'nest-redis-lock';
import { AccountsRepository } from './accounts.repository.js';
import type { Deposit, Deposits } from './deposit.js';

/** The lock and nothing else: who wakes up after his lease overwrites what the next holder has written. */
@Injectable()
export class LockedDeposits implements Deposits {
  constructor(
    private readonly locks: LockService,
    private readonly accounts: AccountsRepository,
  ) {}

  async book(deposit: Deposit): Promise<void> {
    await this.locks.using(`account:${deposit.account}`, async () => {
      const balance = await this.accounts.balance(deposit.account);
      await this.accounts.write(deposit, balance + deposit.amount);
    });
  }
}
