import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LOCK_KINDS, type LockKind } from '../locks/lock-kind.js';
import { HaltingRedis } from './halting-redis.js';

/** A client for each kind of lock, so that each can be halted between two commands of its own. */
@Injectable()
export class RedisClients implements OnApplicationShutdown {
  private readonly clients = new Map(LOCK_KINDS.map((kind) => [kind, connect()]));

  of(kind: LockKind): HaltingRedis {
    const client = this.clients.get(kind);
    if (!client) throw new Error(`There is no client for ${kind}`);
    return client;
  }

  onApplicationShutdown(): void {
    for (const client of this.clients.values()) client.disconnect();
  }
}

function connect(): HaltingRedis {
  return new HaltingRedis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
}
