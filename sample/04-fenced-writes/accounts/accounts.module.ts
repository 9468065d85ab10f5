import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../support/database/database.module.js';
import { AccountsRepository } from './accounts.repository.js';
import { CheckedDeposits } from './checked-deposits.service.js';
import { FencedAccountsRepository } from './fenced-accounts.repository.js';
import { FencedDeposits } from './fenced-deposits.service.js';
import { LockedDeposits } from './locked-deposits.service.js';

@Module({
  imports: [DatabaseModule],
  providers: [AccountsRepository, FencedAccountsRepository, LockedDeposits, CheckedDeposits, FencedDeposits],
})
export class AccountsModule {}
