import EventEmitter, { once as nextOf } from 'node:events';
import { Redis } from 'ioredis';
import type { ContestantDefinition } from '../contestant.js';
import { LEASE } from './common-settings.js';

const CHANNEL = 'bench:results';

/** The least by which processes can share a result: no queue, no lease that is renewed, nothing kept. */
export const contestant: ContestantDefinition = {
  id: 'once-floor',
  kind: 'floor',
  settings:
    'hand-written on bare ioredis, as a lower limit: one SET NX PX of each process; one runs and publishes the result; who misses the message waits for ever',
  sends: ['set', 'publish'],
  async open(redis, lease = LEASE) {
    const client = new Redis(redis);
    const inbox = new Redis(redis);
    const messages = new EventEmitter();
    const results = new Map<string, Promise<string>>();
    const resultOf = (name: string): Promise<string> => {
      const known = results.get(name) ?? nextOf(messages, name).then(([value]) => String(value));
      results.set(name, known);
      return known;
    };
    inbox.on('message', (_channel, message: string) => {
      const [name, value] = JSON.parse(message) as [string, string];
      void resultOf(name);
      messages.emit(name, value);
    });
    await inbox.subscribe(CHANNEL);
    async function run(name: string, work: () => Promise<string>): Promise<void> {
      if ((await client.set(name, 'taken', 'PX', lease, 'NX')) === null) return;
      await client.publish(CHANNEL, JSON.stringify([name, await work()]));
    }
    async function once(name: string, work: () => Promise<string>): Promise<string> {
      const isFirst = !results.has(name);
      const result = resultOf(name);
      if (isFirst) await run(name, work);
      return result;
    }
    return {
      once,
      hold: async (name, work) => void (await once(name, async () => String(await work()))),
      close: () => [client, inbox].forEach((each) => each.disconnect()),
    };
  },
};
