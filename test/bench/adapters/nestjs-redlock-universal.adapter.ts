import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { IoredisAdapter, Redlock, RedlockModule } from 'nestjs-redlock-universal';
import type { ContestantDefinition } from '../contestant.js';
import { LEASE, WAIT } from './common-settings.js';

const RETRY_DELAY = 200;
const RETRY_ATTEMPTS = WAIT / RETRY_DELAY;

@Injectable()
class LockedWork {
  @Redlock({ key: (name: string) => name })
  async run(_name: string, work: () => Promise<void>): Promise<void> {
    await work();
  }
}

export const contestant: ContestantDefinition = {
  id: 'nestjs-redlock-universal',
  package: 'nestjs-redlock-universal',
  kind: 'peer',
  settings: `@Redlock on a provider's method, one node, defaults (ttl 30 s, retryDelay ${RETRY_DELAY} ms), retryAttempts ${RETRY_ATTEMPTS} instead of 3; declares Nest up to 11 and Node 22, runs here on what is installed`,
  sends: ['set', 'evalsha', 'eval', 'script|load'],
  async open(redis, defaultTtl = LEASE) {
    const client = new Redis({ ...redis });

    @Module({
      imports: [
        RedlockModule.forRoot({
          nodes: [new IoredisAdapter(client)],
          defaultTtl,
          retryAttempts: RETRY_ATTEMPTS,
          retryDelay: RETRY_DELAY,
        }),
      ],
      providers: [LockedWork],
    })
    class BenchModule {}

    const app = await NestFactory.createApplicationContext(BenchModule, { logger: false });
    const locked = app.get(LockedWork);
    return { hold: (name, work) => locked.run(name, work), close: () => app.close() };
  },
};
