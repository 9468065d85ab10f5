import type { Redis } from 'ioredis';
import { acquireSharedScript } from '../../lib/store/scripts/acquire-shared.script.js';
import { extendScript } from '../../lib/store/scripts/extend.script.js';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { releaseByOwnerScript } from '../../lib/store/scripts/release-by-owner.script.js';
import type { RedisServer } from '../support/redis-server.js';
import { startEmptied } from './emptied-server.js';
import { waitFor } from '../support/wait-for.js';

/** The length of the key prefix and the prefix of inboxes. */
const BOTH = '5 lock:inbox:';
const [LOCK, QUEUE, SHARED] = ['lock:{n}', 'lock:{n}:q', 'lock:{n}:s'] as const;
const ALL = ['lock:fence', LOCK, QUEUE, SHARED];

interface Terms {
  readonly ttl?: number;
  /** Wanted holds. */
  readonly wanted?: number;
  readonly limit: number;
}

// test/conformance compares all other replies, messages and contents of keys with the memory server.
describe('Scripts of shared holds', () => {
  let server: RedisServer;
  let client: Redis;
  startEmptied((...both) => ([server, client] = both));

  const run = (
    script: LuaScript,
    args: readonly (string | number)[],
    on: readonly string[] = ALL,
  ): Promise<unknown> => client.eval(script.lua, on.length, ...on, ...args);
  /** Requests shared holds. */
  const share = (instance: string, terms: Terms, { claimTtl = 3_000, messages = BOTH } = {}) => {
    const { ttl = 10_000, wanted = 1, limit } = terms;
    const text = `${ttl} ${wanted} s1of${limit} 0 ${claimTtl} `;
    return run(acquireSharedScript, [instance, '', `0 ${messages}`, text]);
  };
  const release = async (owner: string, messages = BOTH): Promise<unknown> => {
    const [reply] = (await run(releaseByOwnerScript, [messages, owner])) as [unknown];
    return reply;
  };
  const members = (): Promise<string[]> =>
    client.zrange(SHARED, '0', '(inf', 'BYSCORE').then((owners) => owners.toSorted());
  const instances = async (): Promise<string[]> => (await members()).map((owner) => owner.replace(/~.*/, ''));
  /** An owner id of an instance, by the number of the hold. */
  const ownerOf = async (instance: string, which = 1): Promise<string> =>
    (await members()).filter((owner) => owner.startsWith(`${instance}~`))[which - 1] ?? '';

  it('keep the lock as long as the last of its holders, and leave no key behind', async () => {
    await share('a', { limit: 9, ttl: 5_000 });
    await share('b', { limit: 9, ttl: 60_000 });
    expect(await client.get(LOCK)).toBe('shared');
    expect(await client.pttl(LOCK)).toBeGreaterThan(55_000);
    expect(await release(await ownerOf('b'))).toBe(1);
    expect(await client.pttl(LOCK)).toBeLessThanOrEqual(5_000);
    // A minute longer, so that the end of a claim lease is not missed.
    expect(await client.pttl(SHARED)).toBeLessThanOrEqual(65_000);
    expect(await release(await ownerOf('a'))).toBe(1);

    expect(await client.keys('*')).toEqual(['lock:fence']);
  });

  it('extend no hold of a lock that another client has deleted or overwritten, and revive none', async () => {
    await share('a', { limit: 9, ttl: 5_000 });
    const owner = await ownerOf('a');
    const on = [LOCK, SHARED, 'lock:{gone}', 'lock:{gone}:s'];
    expect(await run(extendScript, ['a~s1of9:2', 9_000, owner, 9_000], on)).toEqual([0, 0]);
    await client.del(LOCK);
    expect(await run(extendScript, [owner, 9_000], [LOCK, SHARED])).toEqual([0]);
    await client.set(LOCK, 'somebody', 'PX', 5_000);
    expect(await run(extendScript, [owner, 9_000], [LOCK, SHARED])).toEqual([0]);
    expect(await release(owner)).toBe(0);

    expect(await client.get(LOCK)).toBe('somebody');
  });

  it('take no holders over from before the lock was lost', async () => {
    await share('a', { limit: 1, ttl: 60_000 });
    await client.del(LOCK);
    await share('b', { limit: 1 });

    expect(await instances()).toEqual(['b']);
  });

  it('hand over the holds of one lock that are released in one call by one message', async () => {
    const messages: string[] = [];
    const subscriber = server.client();
    subscriber.on('message', (_channel, message: string) => void messages.push(message));
    await subscriber.subscribe('lock:inbox:b');
    await share('a', { limit: 3, wanted: 3 });
    await share('b', { limit: 3, wanted: 5 });
    const on = ['lock:fence', ...[1, 2, 3].flatMap(() => [LOCK, QUEUE, SHARED])];
    const owners = [await ownerOf('a', 1), await ownerOf('a', 2)];
    expect(await run(releaseByOwnerScript, [BOTH, ...owners, owners[1] ?? ''], on)).toEqual([1, 1, 0]);

    await waitFor(() => messages.length > 0);
    expect(messages).toEqual([expect.stringMatching(/^shared \d+ 2\/128 3000 s1of3 n$/)]);
    expect(await instances()).toEqual(['a', 'b', 'b']);
  });

  it('keep a place with a limit although no message arrives, until one of its claim leases expires', async () => {
    const silent = { claimTtl: 50, messages: '5 ' };
    const ask = (instance: string, wanted: number) => share(instance, { limit: 1, wanted }, silent);
    await ask('a', 1);
    await ask('b', 3);
    await ask('c', 1);
    await release(await ownerOf('a'), silent.messages);
    await ask('b', 3);
    await release(await ownerOf('b'), silent.messages);
    const second = await ownerOf('b');
    expect(second).toMatch(/^b~s1of1:/);
    await waitFor(async () => {
      await ask('c', 1);
      return (await members()).some((owner) => owner !== second);
    });

    expect(await instances()).toEqual(['c']);
    expect(await client.zrange(QUEUE, '0', '-1')).toEqual([]);
  });
});
