import { Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { AccountsModule } from './accounts/accounts.module.js';

/** The default, 30 s, would do as well: the sample would only take longer. */
const LEASE = 1_000;

@Module({
  imports: [
    RedisLockModule.forRoot({
      connection: process.env.REDIS_URL,
      ttl: Number(process.env.LEASE ?? LEASE),
      wait: Infinity,
    }),
    AccountsModule,
  ],
})
export class AppModule {}
