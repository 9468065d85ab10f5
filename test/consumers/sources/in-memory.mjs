// An application without a client of Redis, with the locks that its tests have.
import { NestFactory } from '@nestjs/core';
import { LockService } from 'nest-redis-lock';
import { LockTestingModule } from 'nest-redis-lock/testing';

const application = await NestFactory.createApplicationContext(LockTestingModule.forRoot(), {
  abortOnError: false,
  logger: false,
});
const locks = application.get(LockService);
const lock = await locks.acquire('n');
if ((await locks.tryAcquire('n')) !== null) throw new Error('Two hold the lock');
await lock.release();
await application.close();
