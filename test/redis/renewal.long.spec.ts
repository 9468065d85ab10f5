import { setTimeout as sleep } from 'node:timers/promises';
import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { RequestLog } from '../support/request-log.js';
import { Instance } from './instance.js';

it('Renewal of 10,000 names on one instance costs at most 20 requests per ttl/3', async () => {
  const server = await RedisServer.start();
  // Requests that were not answered in time would be repeated.
  const instance = await new Instance({ connection: server.url, commandTimeout: 20_000 }).warmUp();
  try {
    const ttl = 6_000;
    const measure = async (): Promise<void> => {
      const names = Array.from({ length: 10_000 }, (_, i) => `many:${i}`);
      const locks = await Promise.all(
        names.map((name) => instance.locks.acquire(name, { ttl, outageTimeout: 20_000 })),
      );
      const openedAt = performance.now();
      const log = await RequestLog.open(server);
      await sleep(ttl);
      const requests = await log.requests();
      const periods = Math.floor((performance.now() - openedAt) / (ttl / 3));
      const renewals = requests.filter(({ args }) => args[0] === extendScript.sha);
      const held = locks.filter((lock) => lock.held).length;
      log.close();
      await Promise.all(locks.map((lock) => lock.release()));

      expect(renewals.length).toBe(requests.length);
      expect(renewals.length).toBeGreaterThanOrEqual(20);
      // Three periods, if no timer was late, and one more that may have begun.
      expect(renewals.length).toBeLessThanOrEqual((periods + 1) * 20);
      expect(held).toBe(names.length);
      expect(instance.engine.size).toBe(0);
    };
    await steadily(1_000, measure);
  } finally {
    await instance.locks.close();
    await server.stop();
  }
});
