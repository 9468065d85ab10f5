import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Injectable, Module, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { serveCalls } from '../../support/serve-calls.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const [connection = ''] = process.argv.slice(2);

class Jobs {
  @Locked('job')
  async run(): Promise<string> {
    return 'ran';
  }
}

@Injectable()
class FailsAtBootstrap {
  onApplicationBootstrap(): void {
    throw new Error('no queue');
  }
}

const start = async (...providers: Provider[]): Promise<void> => {
  @Module({ imports: [RedisLockModule.forRoot({ connection })], providers })
  class AppModule {}
  await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
};

const calls = {
  start: () => start(),

  /** Starts an application that fails after the module has started; nobody gets it to end it. */
  startAndFail: () => start(FailsAtBootstrap),

  /** Calls a locked method of an instance that is of no application. */
  run(): Promise<string> {
    collectGarbage();
    return new Jobs().run();
  },
};

export type DroppedApplicationCalls = typeof calls;

serveCalls(calls);
