import { Module } from '@nestjs/common';
import { RedisClients } from './redis-clients.js';

@Module({ providers: [RedisClients], exports: [RedisClients] })
export class RedisClientsModule {}
