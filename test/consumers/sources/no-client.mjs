// An application without ioredis that names no connection, so that ioredis would be its client.
import { NestFactory } from '@nestjs/core';
import { LockConfigError, RedisLockModule } from 'nest-redis-lock';

const started = NestFactory.createApplicationContext(RedisLockModule.forRoot({}), {
  abortOnError: false,
  logger: false,
});
const error = await started.catch((thrown) => thrown);
if (!(error instanceof LockConfigError && /install ioredis .* or install redis /.test(error.message)))
  throw new Error(`It does not tell which client to install: ${error}`);
