import { Injectable } from '@nestjs/common';
import { LockService } from 'nest-redis-lock';
import { AccountsRepository } from './accounts.repository.js';
import type { Deposit, Deposits } from './deposit.js';

/** Looks at the lock right before it writes. What happens between the look and the write, it cannot see. */
@Injectable()
export class CheckedDeposits implements Deposits {
  constructor(
    private readonly locks: LockService,
    private readonly accounts: AccountsRepository,
  ) {}

  async book(deposit: Deposit): Promise<void> {
    await this.locks.using(`account:${deposit.account}`, async (lock) => {
      const balance = await this.accounts.balance(deposit.account);
      lock.assertHeld();
      await this.accounts.write(deposit, balance + deposit.amount);
    });
  }
}
