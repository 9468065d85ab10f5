import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { serveCalls } from '../../support/serve-calls.js';
import type { RedisAddress } from '../contestant.js';
import { now } from './shared-clock.js';

const CHANNEL = 'bench:trip';
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

  /** Milliseconds from PUBLISH to message. */
  trips(): number[] {
    return arrived.splice(0);
  },
};

export type TripCalls = typeof calls;

serveCalls(calls);
