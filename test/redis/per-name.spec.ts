import { isQueued } from '../contract/observe.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

const AMPLE = 20_000;

describe("layout: 'per-name', on one Redis", () => {
  const server = duringTests(() => RedisServer.start());

  it.each([
    ['pubsub', 1],
    ['poll', 0],
  ] as const)(
    "hands a lock to the waiting instance in its release, with wake: '%s' by %i messages",
    async (wake, messages) => {
      const name = `handed:${wake}`;
      const options = { connection: server.url, layout: 'per-name', wait: AMPLE, wake } as const;
      await using holder = new Instance(options);
      await using waiter = new Instance(options);
      const lock = await holder.locks.acquire(name);
      const waiting = waiter.locks.acquire(name);
      await isQueued(holder.locks, name, 1);
      // The trial of a connection sends a message, too.
      for (const { name: own, store } of [holder, waiter])
        await waitFor(() => store.wakesBy(`instance:${own}`) !== undefined, { that: 'the trials to end' });
      await waitFor(() => waiter.store.wakesBy(name) !== undefined, { that: 'the waiter to listen' });
      await server.resetCommandCounts();

      await lock.release();

      expect(await server.client().get(`lock:{${name}}`)).toMatch(new RegExp(`^${waiter.name}:`));
      const next = await waiting;
      const { publish = 0, spublish = 0 } = await server.commandCounts();
      expect([publish, spublish]).toEqual([0, messages]);
      await next.release();
    },
  );
});
