import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import type { ContestantDefinition } from '../contestant.js';
import { WAIT } from './common-settings.js';

export const contestant: ContestantDefinition = {
  id: 'redis-semaphore',
  package: 'redis-semaphore',
  kind: 'peer',
  settings: `Mutex with its defaults (lockTimeout 10 s, refreshed at 0.8, retryInterval 10 ms), acquireTimeout ${WAIT / 1_000} s`,
  sends: ['set', 'evalsha', 'eval'],
  async open(redis, lockTimeout = 10_000) {
    const client = new Redis({ ...redis });
    return {
      async hold(name, work) {
        const mutex = new Mutex(client, name, { lockTimeout, acquireTimeout: WAIT });
        await mutex.acquire();
        try {
          await work();
        } finally {
          await mutex.release();
        }
      },
      close: () => client.disconnect(),
    };
  },
};
