import { NestFactory } from '@nestjs/core';
import type { RedisLockModuleOptions } from '../../../dist/index.js';
import type { Contestant, Together } from '../contestant.js';
import { KEEP, LEASE, WAIT } from './common-settings.js';

/** The package, of this revision or of another one. */
export type LockBuild = typeof import('../../../dist/index.js');

/** A build of this package as its users have it, on whatever servers. */
export async function openLocks(
  { LockService, RedisLockModule }: LockBuild,
  connection: RedisLockModuleOptions['connection'],
  ttl = LEASE,
): Promise<Contestant> {
  const module = RedisLockModule.forRoot({ connection, ttl, wait: WAIT });
  const application = await NestFactory.createApplicationContext(module, {
    logger: false,
    abortOnError: false,
  });
  const locks = application.get(LockService);
  async function hold(
    key: string | readonly string[],
    work: () => Promise<void>,
    together?: Together,
  ): Promise<void> {
    const lock = await locks.acquire(key, together && { mode: 'shared', ...together });
    try {
      await work();
    } finally {
      await lock.release();
    }
  }
  return {
    hold,
    holdAll: hold,
    once: (name, work) => locks.once(name, { keep: KEEP }, work),
    close: () => application.close(),
  };
}
