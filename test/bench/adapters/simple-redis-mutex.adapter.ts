import { createClient } from 'redis';
import { lock } from 'simple-redis-mutex';
import type { ContestantDefinition } from '../contestant.js';
import { LEASE, WAIT } from './common-settings.js';

export const contestant: ContestantDefinition = {
  id: 'simple-redis-mutex',
  package: 'simple-redis-mutex',
  kind: 'peer',
  settings: `defaults (timeout 30 s, pollingInterval 10 s) on node-redis, failAfter ${WAIT / 1_000} s`,
  sends: ['set', 'evalsha', 'eval', 'script|load', 'incr', 'subscribe'],
  async open(redis, timeout = LEASE) {
    const client = createClient({ socket: { host: redis.host, port: redis.port } });
    client.on('error', () => {});
    await client.connect();
    return {
      async hold(name, work) {
        const release = await lock(client, name, { timeout, failAfter: WAIT });
        try {
          await work();
        } finally {
          await release();
        }
      },
      close: () => client.destroy(),
    };
  },
};
