// Hands a lock from one module to another, both over a client of iovalkey.
import { deepStrictEqual } from 'node:assert/strict';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'iovalkey';
import { LockService, RedisLockModule } from 'nest-redis-lock';

const [url = ''] = process.argv.slice(2);
const connection = new Redis(url);
const start = () =>
  NestFactory.createApplicationContext(RedisLockModule.forRoot({ connection }), { logger: false });
const applications = [await start(), await start()];
const [first, second] = applications.map((each) => each.get(LockService));
const name = `iovalkey:${process.pid}`;
const lock = await first.acquire(name);
const next = second.acquire(name);
while ((await first.query(name)).pending.length === 0);
await lock.release();
const { fencingToken, held } = await next;
deepStrictEqual([held, fencingToken > lock.fencingToken], [true, true]);
await (await next).release();
await Promise.all(applications.map((each) => each.close()));
await connection.quit();
