import { Redlock, RedlockModule } from '@anchan828/nest-redlock';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import type { ContestantDefinition } from '../contestant.js';
import { LEASE } from './common-settings.js';
import { REDLOCK_SETTINGS, REDLOCK_SETTINGS_TEXT } from './redlock-contestant.js';

@Injectable()
class LockedWork {
  @Redlock((_target: LockedWork, name: string) => name)
  async run(_name: string, work: () => Promise<void>): Promise<void> {
    await work();
  }
}

export const contestant: ContestantDefinition = {
  id: 'anchan828-nest-redlock',
  package: '@anchan828/nest-redlock',
  kind: 'peer',
  settings: `@Redlock on a provider's method; ${REDLOCK_SETTINGS_TEXT}`,
  sends: ['evalsha', 'eval'],
  async open(redis, duration = LEASE) {
    const client = new Redis({ ...redis });

    @Module({
      imports: [RedlockModule.register({ clients: [client], settings: REDLOCK_SETTINGS, duration })],
      providers: [LockedWork],
    })
    class BenchModule {}

    const app = await NestFactory.createApplicationContext(BenchModule, { logger: false });
    const locked = app.get(LockedWork);
    return { hold: (name, work) => locked.run(name, work), close: () => client.disconnect() };
  },
};
