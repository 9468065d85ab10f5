import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { ContestantDefinition } from '../contestant.js';
import { KEEP, LEASE } from './common-settings.js';

const RETRY_DELAY = 10;
/** Stores the result and releases the lock, in one step; by other commands than the client sends, which are counted. */
const KEEP_RESULT = `
if redis.call('GETRANGE', KEYS[1], 0, -1) ~= ARGV[1] then
  return 0
end
redis.call('PSETEX', KEYS[2], ARGV[3], ARGV[2])
return redis.call('DEL', KEYS[1])`;

interface PlainClient extends Redis {
  keep(lock: string, result: string, owner: string, value: string, keep: number): Promise<number>;
}

/** What an application writes itself: GET, SET NX PX, and polling for the result. */
export const contestant: ContestantDefinition = {
  id: 'once-by-hand',
  kind: 'floor',
  settings: `hand-written GET, SET NX PX and a script that keeps the result, on bare ioredis; polls every ${RETRY_DELAY} ms`,
  sends: ['get', 'set', 'evalsha', 'eval'],
  async open(redis, lease = LEASE) {
    const client = new Redis({
      ...redis,
      scripts: { keep: { numberOfKeys: 2, lua: KEEP_RESULT } },
    }) as PlainClient;
    const owner = randomBytes(8).toString('hex');
    let runs = 0;
    async function once(name: string, work: () => Promise<string>): Promise<string> {
      const [lock, result] = [`${name}:lock`, `${name}:result`];
      const id = `${owner}:${++runs}`;
      for (;;) {
        const kept = await client.get(result);
        if (kept !== null) return kept;
        if ((await client.set(lock, id, 'PX', lease, 'NX')) !== null) break;
        await sleep(RETRY_DELAY);
      }
      // The second check: another caller may have kept its result after the first one.
      const value = (await client.get(result)) ?? (await work());
      await client.keep(lock, result, id, value, KEEP);
      return value;
    }
    return {
      once,
      hold: async (name, work) => void (await once(name, async () => String(await work()))),
      close: () => client.disconnect(),
    };
  },
};
