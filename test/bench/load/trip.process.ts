import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { serveCalls } from '../../support/serve-calls.js';
import type { RedisAddress } from '../contestant.js';
import { HoldRecording } from './hold-recording.js';
import { now } from './shared-clock.js';

const INBOX = 'bench:trip:inbox:';
/**
 * The least that hands a lock on: to the head of the queue, with a token, by a message. No right is asked for, no queue
 * looked at before it is written, and no mistake of a clock counts.
 */
const HAND_ON = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
local head = redis.call('ZPOPMIN', KEYS[2])[1]
if not head then
  return redis.call('DEL', KEYS[1])
end
local time = redis.call('TIME')
redis.call('SET', KEYS[3], time[1] .. time[2])
redis.call('SET', KEYS[1], head, 'PX', 3000)
redis.call('PUBLISH', '${INBOX}' .. head, ARGV[2])
return 1`;
/** The least that takes a lock or joins its queue. */
const JOIN = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 3000) then
  return 1
end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[2], 'NX', time[1] .. time[2], ARGV[1])
return 0`;
const WAITER = 'waiter';
const keysOf = (name: string): readonly [lock: string, queue: string, fence: string] => [
  `bench:${name}:lock`,
  `bench:${name}:queue`,
  `bench:${name}:fence`,
];
const KEYS = keysOf('trip');
const TURN_KEYS = keysOf('turns');
const arrived: number[] = [];

const calls = {
  async listen(redis: RedisAddress): Promise<void> {
    const client = new Redis({ ...redis });
    client.on('message', (_channel, sentAt: string) => arrived.push(now() - Number(sentAt)));
    await client.subscribe(INBOX + WAITER);
  },

  async publish(redis: RedisAddress, times: number, pause: number): Promise<void> {
    const client = new Redis({ ...redis });
    await once(client, 'ready');
    for (let time = 0; time < times; time++) {
      await client.publish(INBOX + WAITER, String(now()));
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
      await Promise.all([client.set(lock, 'holder'), client.zadd(queue, time, WAITER)]);
      await sleep(pause);
      await client.evalsha(digest, KEYS.length, ...KEYS, 'holder', now());
    }
    client.disconnect();
  },

  /**
   * Takes turns with another process that does the same, as callers of a lock do: whoever has handed on asks again at once.
   * Gives the moments of its turns.
   */
  async takeTurns(redis: RedisAddress, place: string, times: number, pause: number): Promise<Float64Array> {
    const [client, inbox] = [new Redis({ ...redis }), new Redis({ ...redis })];
    const turns = new HoldRecording();
    let told: (() => void) | undefined;
    inbox.on('message', () => told?.());
    await inbox.subscribe(INBOX + place);
    const join = (await client.script('LOAD', JOIN)) as string;
    const handOn = (await client.script('LOAD', HAND_ON)) as string;
    for (let time = 0; time < times; time++) {
      const asked = now();
      const turn = new Promise<void>((resolve) => (told = resolve));
      if (!(await client.evalsha(join, TURN_KEYS.length, ...TURN_KEYS, place))) await turn;
      const begin = now();
      await sleep(pause);
      turns.add(asked, begin, now());
      await client.evalsha(handOn, TURN_KEYS.length, ...TURN_KEYS, place, now());
    }
    for (const each of [client, inbox]) each.disconnect();
    return turns.all;
  },

  /** Milliseconds from sending to message. */
  trips(): number[] {
    return arrived.splice(0);
  },
};

export type TripCalls = typeof calls;

serveCalls(calls);
