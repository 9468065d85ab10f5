import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { serveCalls } from '../../support/serve-calls.js';
import type { RedisAddress } from '../contestant.js';
import { now } from './shared-clock.js';

const CHANNEL = 'bench:trip';
/**
 * The least that hands a lock on: to the head of the queue, with a token, by a message. No right is asked for, no queue
 * looked at before it is written, and no mistake of a clock counts.
 */
const HAND_ON = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
local head = redis.call('ZPOPMIN', KEYS[2])[1]
local time = redis.call('TIME')
local token = time[1] .. time[2]
redis.call('SET', KEYS[3], token)
redis.call('SET', KEYS[1], head .. ':' .. token, 'PX', 3000)
redis.call('PUBLISH', '${CHANNEL}', ARGV[2])
return 1`;
const KEYS = ['bench:trip:lock', 'bench:trip:queue', 'bench:trip:fence'] as const;
const arrived: number[] = [];

const calls = {
  async listen(redis: RedisAddress): Promise<void> {
    const client = new Redis({ ...redis });
    client.on('message', (_channel, sentAt: string) => arrived.push(now() - Number(sentAt)));
    await client.subscribe(CHANNEL);
  },

  async publish(redis: RedisAddress, times: number, pause: number): Promise<void> {
    const client = new Redis({ ...redis });
    await once(client, 'ready');
    for (let time = 0; time < times; time++) {
      await client.publish(CHANNEL, String(now()));
      await sleep(pause);
    }
    client.disconnect();
  },

  async handOn(redis: RedisAddress, times: number, pause: number): Promise<void> {
    const client = new Redis({ ...redis });
    await once(client, 'ready');
    const digest = (await client.script('LOAD', HAND_ON)) as string;
    const [lock, queue] = KEYS;
    for (let time = 0; time < times; time++) {
      await Promise.all([client.set(lock, 'holder'), client.zadd(queue, time, 'waiter')]);
      await sleep(pause);
      await client.evalsha(digest, KEYS.length, ...KEYS, 'holder', now());
    }
    client.disconnect();
  },

  /** Milliseconds from sending to message. */
  trips(): number[] {
    return arrived.splice(0);
  },
};

export type TripCalls = typeof calls;

serveCalls(calls);
