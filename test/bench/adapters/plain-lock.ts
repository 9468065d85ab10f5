import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Contestant, RedisAddress } from '../contestant.js';
import { LEASE } from './common-settings.js';

const COMPARE_AND_DELETE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;
const RETRY_DELAY = 10;

/** A client on which `release` is defined as one EVALSHA. */
interface PlainClient extends Redis {
  release(key: string, owner: string): Promise<number>;
}

/**
 * SET NX PX and compare-and-delete, the least that a lock on Redis can do: no token, no renewal, no queue.
 *
 * @param lease milliseconds
 * @param beforeCommand runs before each command is written
 */
export function openPlainLock(
  redis: RedisAddress,
  lease = LEASE,
  beforeCommand: (client: Redis) => void = () => {},
): Contestant {
  const client = new Redis({
    ...redis,
    scripts: { release: { numberOfKeys: 1, lua: COMPARE_AND_DELETE } },
  }) as PlainClient;
  const owner = randomBytes(8).toString('hex');
  let holds = 0;
  return {
    async hold(name, work) {
      const id = `${owner}:${++holds}`;
      for (;;) {
        beforeCommand(client);
        if ((await client.set(name, id, 'PX', lease, 'NX')) !== null) break;
        await sleep(RETRY_DELAY);
      }
      try {
        await work();
      } finally {
        beforeCommand(client);
        await client.release(name, id);
      }
    },
    close: () => client.disconnect(),
  };
}
