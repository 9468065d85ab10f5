import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Locked, RedisLockModule } from 'nest-redis-lock';

const [connection = '', rounds = '1'] = process.argv.slice(2);

@Injectable()
class Work {
  @Locked('work:<0>')
  async run(_name: string): Promise<void> {}
}

@Module({ imports: [RedisLockModule.forRoot({ connection })], providers: [Work] })
class AppModule {}

/** What this process keeps open, by kind. */
function leftOpen(): string {
  const listeners = process.eventNames().map((event) => `${String(event)}=${process.listenerCount(event)}`);
  return [...process.getActiveResourcesInfo(), ...listeners].toSorted().join(' ');
}

/** As a serverless function that is called with a cold start each time. */
async function invoke(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  await app.get(Work).run('a');
  await app.close();
  await new Promise(setImmediate);
}

async function main(): Promise<void> {
  // The first writes to the standard output and loads modules.
  await invoke();
  process.stdout.write('started\n');
  const before = leftOpen();
  for (let round = 1; round < Number(rounds); round += 1) await invoke();
  process.stdout.write(`${before}\n${leftOpen()}\n`);
}

void main();
