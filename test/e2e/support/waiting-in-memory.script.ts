import { Test, type TestingModule } from '@nestjs/testing';
import { LockService, RedisLockModule } from 'nest-redis-lock';

const [names = '', mode] = process.argv.slice(2);

async function start(): Promise<TestingModule> {
  return Test.createTestingModule({ imports: [RedisLockModule.forRoot({ connection: 'memory' })] })
    .setLogger({ log: () => {}, warn: () => {}, error: () => {} })
    .compile();
}

/** Waits for the end of a lease, while no timer and no connection of the script keeps the process alive. */
async function main(): Promise<void> {
  const modules = [await start(), await start()];
  await modules[0]?.get(LockService).acquire('n', { ttl: 300, renew: false });
  const options = mode === 'shared' ? ({ mode } as const) : {};
  const holds = modules.map((module) => module.get(LockService).using(names.split(','), options, () => 1));
  await Promise.all(holds);
  process.stdout.write('granted');
  await Promise.all(modules.map((module) => module.close()));
  process.stdout.write(', closed');
}

void main();
