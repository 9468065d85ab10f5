import { executionAsyncId } from 'node:async_hooks';
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

/** Whether an `await` calls hooks now: then each continuation has an id of its own. */
async function isAwaitHooked(): Promise<boolean> {
  const settled = Promise.resolve();
  const [first, second] = await Promise.all([settled.then(executionAsyncId), settled.then(executionAsyncId)]);
  return first !== second;
}

const calls = {
  isAwaitHooked,

  /** Starts and closes applications, each after one locked call. Resolves to whether an `await` called hooks in the last. */
  async openAndClose(applications: number): Promise<boolean> {
    let isHooked = false;
    for (let i = 0; i < applications; i++) {
      const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
      await app.get(Jobs).run();
      isHooked = await isAwaitHooked();
      await app.close();
    }
    return isHooked;
  },
};

export type AwaitCalls = typeof calls;

serveCalls(calls);
