import KeyvRedis from '@keyv/redis';
import { Cacheable } from 'cacheable';
import { Keyv } from 'keyv';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import type { ContestantDefinition } from '../contestant.js';
import { KEEP, LEASE, WAIT } from './common-settings.js';

const RETRY_DELAY = 200;

/** cacheable runs a factory once in each process; a lock around it, with a second check, makes it once over all. */
export const contestant: ContestantDefinition = {
  id: 'cacheable',
  package: 'cacheable',
  kind: 'peer',
  settings: `getOrSet() over Redis alone; its factory locks by redlock (retryDelay ${RETRY_DELAY} ms) and reads the cache again`,
  sends: ['get', 'set', 'evalsha', 'eval'],
  async open({ host, port }, lease = LEASE) {
    const client = new Redis({ host, port });
    const redlock = new Redlock([client], { retryCount: WAIT / RETRY_DELAY, retryDelay: RETRY_DELAY });
    const store = new KeyvRedis(`redis://${host}:${port}`);
    const cache = new Cacheable({ primary: new Keyv(store, { useKeyPrefix: false }) });
    const once = async (name: string, work: () => Promise<string>): Promise<string> => {
      const result = await cache.getOrSet(
        name,
        () =>
          redlock.using([`${name}:lock`], lease, async () => {
            const kept = await cache.get<string>(name);
            if (kept !== undefined) return kept;
            const made = await work();
            await cache.set(name, made, KEEP);
            return made;
          }),
        { ttl: KEEP },
      );
      if (result === undefined) throw new Error('It returned no result.');
      return result;
    };
    return {
      once,
      hold: async (name, work) => void (await once(name, async () => String(await work()))),
      async close() {
        await cache.disconnect();
        client.disconnect();
      },
    };
  },
};
