import { Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { DatabaseModule } from '../../support/database/database.module.js';
import { addresses, sentinelConnection } from './connections.js';
import { FencedAccount } from './fenced-account.js';
import { Reconnection } from './reconnection.js';

const servers = addresses();
const reconnection = new Reconnection();
const { retryStrategy } = reconnection;

/** One application with locks on both topologies. */
@Module({
  imports: [
    RedisLockModule.forRoot({
      name: 'sentinel',
      connection: { ...sentinelConnection(servers), retryStrategy },
      advanced: { commandTimeout: 500 },
    }),
    RedisLockModule.forRoot({
      name: 'quorum',
      connection: [...servers.quorum],
      advanced: { nodeTimeout: 250 },
    }),
    DatabaseModule,
  ],
  providers: [FencedAccount, { provide: Reconnection, useValue: reconnection }],
})
export class ContenderModule {}
