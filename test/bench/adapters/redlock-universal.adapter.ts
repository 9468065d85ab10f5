import { Redis } from 'ioredis';
import { createLock, createRedlock, IoredisAdapter, type Lock } from 'redlock-universal';
import { type ContestantDefinition, nodesOf } from '../contestant.js';
import { LEASE, WAIT } from './common-settings.js';

const RETRY_DELAY = 100;
const RETRY_ATTEMPTS = WAIT / RETRY_DELAY;

export const contestant: ContestantDefinition = {
  id: 'redlock-universal',
  package: 'redlock-universal',
  kind: 'peer',
  settings: `createLock on one node and createRedlock on several, one lock object a name, defaults (ttl 30 s, retryDelay ${RETRY_DELAY} ms), retryAttempts ${RETRY_ATTEMPTS} instead of 3; acquire and release`,
  sends: ['set', 'evalsha', 'eval', 'script|load'],
  async open(redis, ttl = LEASE) {
    const clients = nodesOf(redis).map(({ host, port }) => new Redis({ host, port }));
    const adapters = clients.map((client) => new IoredisAdapter(client));
    const [first, ...others] = adapters;
    if (!first) throw new Error('There is no Redis.');
    const locks = new Map<string, Lock>();
    const lockOf = (key: string): Lock => {
      const known = locks.get(key);
      if (known) return known;
      const settings = { key, ttl, retryDelay: RETRY_DELAY, retryAttempts: RETRY_ATTEMPTS };
      const lock =
        others.length > 0
          ? createRedlock({ adapters, ...settings })
          : createLock({ adapter: first, ...settings });
      locks.set(key, lock);
      return lock;
    };
    return {
      async hold(name, work) {
        const lock = lockOf(name);
        const handle = await lock.acquire();
        try {
          await work();
        } finally {
          await lock.release(handle);
        }
      },
      close: () => clients.forEach((client) => client.disconnect()),
    };
  },
};
