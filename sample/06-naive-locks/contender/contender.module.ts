import { Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { Contender } from './contender.js';
import { RedisClients } from './redis-clients.js';
import { RedisClientsModule } from './redis-clients.module.js';

@Module({
  imports: [
    RedisClientsModule,
    RedisLockModule.forRootAsync({
      imports: [RedisClientsModule],
      inject: [RedisClients],
      useFactory: (clients: RedisClients) => ({
        connection: clients.of('nest-redis-lock'),
        ttl: Number(process.env.LEASE_SECONDS) * 1_000,
      }),
    }),
  ],
  providers: [Contender],
})
export class ContenderModule {}
