import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { serveCalls } from '../support/serve-calls.js';

@Injectable()
class Jobs {
  @Locked('job')
  async run(): Promise<string> {
    return 'done';
  }
}

@Module({ imports: [RedisLockModule.forRoot({ connection: 'memory' })], providers: [Jobs] })
class AppModule {}

const calls = {
  /** Starts and closes applications, each after one locked call. */
  async openAndClose(applications: number): Promise<void> {
    for (let i = 0; i < applications; i++) {
      const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
      await app.get(Jobs).run();
      await app.close();
    }
  },

  /** Nanoseconds of an `await`: the best of ten rounds, because other processes disturb the others. */
  async nanoseconds(): Promise<number> {
    const COUNT = 100_000;
    const settled = Promise.resolve();
    let best = Infinity;
    for (let round = 0; round < 10; round++) {
      const start = process.hrtime.bigint();
      for (let i = 0; i < COUNT; i++) await settled;
      best = Math.min(best, Number(process.hrtime.bigint() - start) / COUNT);
    }
    return best;
  },
};

export type AwaitCalls = typeof calls;

serveCalls(calls);
