import { BentoCache, bentostore } from 'bentocache';
import { redisDriver } from 'bentocache/drivers/redis';
import type { ContestantDefinition } from '../contestant.js';
import { KEEP } from './common-settings.js';

/** A cache that runs a factory once in each process. It has no lock over several. */
export const contestant: ContestantDefinition = {
  id: 'bentocache',
  package: 'bentocache',
  kind: 'peer',
  settings: 'getOrSet() over Redis alone, so that a kept result is read from there; one run in each process',
  sends: ['get', 'set', 'psetex', 'evalsha', 'eval'],
  async open({ host, port }) {
    const store = bentostore().useL2Layer(redisDriver({ connection: { host, port } }));
    const cache = new BentoCache({ default: 'redis', stores: { redis: store } });
    const once = (key: string, factory: () => Promise<string>): Promise<string> =>
      cache.getOrSet({ key, ttl: KEEP, factory });
    return {
      once,
      hold: async (name, work) => void (await once(name, async () => String(await work()))),
      close: () => cache.disconnectAll(),
    };
  },
};
