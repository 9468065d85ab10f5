import { Redis } from 'ioredis';
import { Mutex, Semaphore } from 'redis-semaphore';
import type { ContestantDefinition } from '../contestant.js';
import { WAIT } from './common-settings.js';

export const contestant: ContestantDefinition = {
  id: 'redis-semaphore',
  package: 'redis-semaphore',
  kind: 'peer',
  settings: `Mutex, or Semaphore, with its defaults (lockTimeout 10 s, refreshed at 0.8, retryInterval 10 ms), acquireTimeout ${WAIT / 1_000} s`,
  sends: ['set', 'evalsha', 'eval'],
  async open(redis, lockTimeout = 10_000) {
    const client = new Redis({ ...redis });
    const options = { lockTimeout, acquireTimeout: WAIT };
    return {
      async hold(name, work, together) {
        const mutex = together
          ? new Semaphore(client, name, together.limit, options)
          : new Mutex(client, name, options);
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
