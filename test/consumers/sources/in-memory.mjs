// An application without a client of Redis: with the locks that its tests have, and with those of development.
import { NestFactory } from '@nestjs/core';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { LockTestingModule } from 'nest-redis-lock/testing';

for (const module of [LockTestingModule.forRoot(), RedisLockModule.forRoot({ connection: 'memory' })]) {
  const application = await NestFactory.createApplicationContext(module, {
    abortOnError: false,
    logger: false,
  });
  const locks = application.get(LockService);
  const lock = await locks.acquire('n');
  if ((await locks.tryAcquire('n')) !== undefined) throw new Error('Two hold the lock');
  await lock.release();
  await application.close();
}
