import type { Redis } from 'ioredis';
import { acquireScript } from '../../lib/store/scripts/acquire.script.js';
import { acquireSharedScript } from '../../lib/store/scripts/acquire-shared.script.js';
import { cancelScript } from '../../lib/store/scripts/cancel.script.js';
import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { forceReleaseScript } from '../../lib/store/scripts/force-release.script.js';
import { transferScript } from '../../lib/store/scripts/transfer.script.js';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { releaseScript } from '../../lib/store/scripts/release.script.js';
import { releaseSharedScript } from '../../lib/store/scripts/release-shared.script.js';
import type { RedisServer } from '../support/redis-server.js';
import { startEmptied } from './emptied-server.js';
import { waitFor } from '../support/wait-for.js';

const PREFIXES = ['lock:inbox:', 'lock:'.length] as const;
/** The same as one word, for the scripts that most requests run. */
const BOTH = '5 lock:inbox:';
const [LOCK, QUEUE, SHARED] = ['lock:{n}', 'lock:{n}:q', 'lock:{n}:s'] as const;
const ALL = ['lock:fence', LOCK, QUEUE, SHARED];

interface Reply {
  readonly floor: number;
  readonly first: number;
  /** New holds. */
  readonly holds: number;
  /** Tokens of earlier holds. */
  readonly found: readonly string[];
  /** Who has the lock, and for how long, if there are fewer holds than wanted. */
  readonly owner?: string | undefined;
  readonly left: number;
}

interface Terms {
  readonly ttl?: number;
  /** Wanted holds. */
  readonly wanted?: number;
  readonly permits?: number;
  readonly limit?: number;
  readonly claimTtl?: number;
  readonly since?: number;
  readonly known?: readonly string[];
  /** Whether to queue. */
  readonly attempt?: 'waits' | 'once';
}

describe('Scripts of shared holds', () => {
  let server: RedisServer;
  let client: Redis;
  startEmptied((...both) => ([server, client] = both));

  const run = (
    script: LuaScript,
    args: readonly (string | number)[],
    on: readonly string[] = ALL,
  ): Promise<unknown> => client.eval(script.lua, on.length, ...on, ...args);
  const tagOf = ({ permits = 1, limit }: Terms): string =>
    `s${permits}${limit === undefined ? '' : `of${limit}`}`;

  /** Asks for shared holds. */
  const share = async (instance: string, terms: Terms = {}, messages = BOTH): Promise<Reply> => {
    const { ttl = 10_000, wanted = 1, claimTtl = 3_000, since = 0, known = [], attempt = 'waits' } = terms;
    const claim = attempt === 'waits' ? claimTtl : '';
    const text = `${ttl} ${wanted} ${tagOf(terms)} ${since} ${claim} ${known.join(',')}`;
    const replies = await run(acquireSharedScript, [instance, '', `0 ${messages}`, text]);
    const [[floor, first, block, waiting, ...found]] = replies as [
      [number, number, string, string, ...string[]],
    ];
    const [holds = 0, tokens = 0] = block === '' ? [] : block.split('/').map(Number);
    expect(tokens).toBe(64 * holds);
    const [, left, owner] = /^(-?\d+) (.*)$/.exec(waiting) ?? [];
    return { floor, first, holds, found, owner, left: Number(left) };
  };
  /** How many of the wanted holds an instance has then. */
  const shared = async (instance: string, terms: Terms = {}): Promise<number> => {
    const { holds, found } = await share(instance, terms);
    return holds + found.length;
  };
  /** Asks for the lock alone. */
  const acquire = async (instance: string): Promise<unknown> => {
    const reply = await run(acquireScript, [instance, '', `0 ${BOTH}`, '10000 1 3000|1']);
    return Array.isArray(reply) ? reply[0] : reply;
  };
  const free = async (owner: string): Promise<unknown> => {
    const [reply] = (await run(releaseSharedScript, [BOTH, owner])) as [unknown];
    return reply;
  };
  const members = (): Promise<string[]> =>
    client.zrange(SHARED, '0', '(inf', 'BYSCORE').then((owners) => owners.toSorted());
  /** The holders, without their tokens. */
  const holders = async (): Promise<string[]> => (await members()).map((owner) => owner.replace(/:.*/, ''));
  /** An owner id of an instance, by the number of the hold. */
  const ownerOf = async (instance: string, which = 1): Promise<string> =>
    (await members()).filter((owner) => owner.startsWith(`${instance}~`))[which - 1] ?? '';
  /** Releases a hold of an instance. */
  const release = async (instance: string, which = 1): Promise<unknown> =>
    free(await ownerOf(instance, which));
  const cancel = (instance: string, terms: Terms = {}, since = 0): Promise<unknown> =>
    run(cancelScript, [instance, `${instance}|3000|1|${tagOf(terms)}`, ...PREFIXES, since, tagOf(terms)]);
  const waiters = (): Promise<string[]> => client.zrange(QUEUE, '0', '-1');
  const leaseOf = async (owner: string): Promise<number> => {
    const [seconds = 0, micros = 0] = (await client.time()).map(Number);
    return Number(await client.zscore(SHARED, owner)) - seconds * 1_000 - micros / 1_000;
  };
  const listen = async (instance: string): Promise<string[]> => {
    const messages: string[] = [];
    const subscriber = server.client();
    subscriber.on('message', (_channel, message: string) => void messages.push(message));
    await subscriber.subscribe(`lock:inbox:${instance}`);
    return messages;
  };

  it('keep the lock as long as the last of its holders, and leave no key behind', async () => {
    await share('a', { ttl: 5_000 });
    await share('b', { ttl: 60_000 });
    expect(await client.get(LOCK)).toBe('shared');
    expect(await client.pttl(LOCK)).toBeGreaterThan(55_000);
    expect(await release('b')).toBe(1);
    expect(await client.pttl(LOCK)).toBeLessThanOrEqual(5_000);
    // A minute longer, so that the end of a claim lease is not missed.
    expect(await client.pttl(SHARED)).toBeLessThanOrEqual(65_000);
    expect(await release('a')).toBe(1);

    expect(await client.keys('*')).toEqual(['lock:fence']);
  });

  it('grant all permits of a hold together, and admit no later caller before', async () => {
    await listen('b');
    await listen('c');
    await share('a', { wanted: 2, limit: 3 });

    expect((await share('b', { permits: 2, limit: 3 })).owner).toBe('shared');
    expect((await share('c', { limit: 3 })).owner).toBe('shared');
    expect(await holders()).toEqual(['a~s1of3', 'a~s1of3']);
    await release('a');

    expect(await holders()).toEqual(['a~s1of3', 'b~s2of3']);
    await release('a');
    expect(await holders()).toEqual(['b~s2of3', 'c~s1of3']);
  });

  it('grant as many holds of several permits as the limit has room for, and keep the place of the others', async () => {
    await listen('a');

    expect((await share('a', { permits: 2, wanted: 3, limit: 5 })).holds).toBe(2);
    expect(await waiters()).toEqual(['a|3000|1|s2of5']);
    await release('a');

    expect(await holders()).toEqual(['a~s2of5', 'a~s2of5']);
    expect(await waiters()).toEqual([]);
  });

  it('grant no part of a hold to a single attempt', async () => {
    await share('a', { wanted: 2, limit: 3 });

    expect((await share('b', { permits: 2, limit: 3, attempt: 'once' })).owner).toBe('shared');
    expect((await share('c', { limit: 3, attempt: 'once' })).holds).toBe(1);
  });

  it('name the same holds to a repeated request, and grant no others', async () => {
    const { first, holds } = await share('a', { wanted: 3 });
    const again = await share('a', { wanted: 3 });

    expect([holds, again.holds]).toEqual([3, 0]);
    expect(again.found).toEqual([0, 64, 128].map((step) => String(first + step)));
    expect(again.floor).toBeGreaterThanOrEqual(first + 191);
    expect(await members()).toEqual(again.found.map((token) => `a~s1:${token}`));
  });

  it('name only holds with equal terms that the instance does not know', async () => {
    const { floor, first } = await share('a', { wanted: 2, limit: 9 });
    await share('a', { wanted: 1, limit: 8 });
    await share('b', { wanted: 1, limit: 9 });

    expect((await share('a', { wanted: 2, limit: 9, since: first })).found).toEqual([String(first + 64)]);
    expect(await holders()).toEqual(['a~s1of8', 'a~s1of9', 'a~s1of9', 'a~s1of9', 'b~s1of9']);
    expect((await share('a', { limit: 9, since: floor, known: [], attempt: 'once' })).found).toHaveLength(1);
    const known = [String(first), String(first + 64)];
    expect((await share('a', { limit: 9, known, attempt: 'once' })).found).toHaveLength(1);
  });

  it('mint 64 tokens for each hold, and say so', async () => {
    const messages = await listen('b');
    const { first, holds } = await share('a', { wanted: 3, limit: 3 });
    expect(holds).toBe(3);
    await share('b', { wanted: 2, limit: 3 });
    await release('a', 2);
    await waitFor(() => messages.length === 1);
    const [, next, block] = /^shared (\d+) (\S+) 3000 s1of3 n$/.exec(messages[0] ?? '') ?? [];

    expect(block).toBe('1/64');
    expect(Number(next)).toBeGreaterThanOrEqual(first + 192);
    expect(await ownerOf('b')).toBe(`b~s1of3:${next}`);
    expect(await waiters()).toEqual(['b|3000|1|s1of3']);
    expect(Number(await client.get('lock:fence'))).toBeGreaterThanOrEqual(Number(next) + 63);
  });

  it('count no permit twice for a repeated request', async () => {
    await share('a', { wanted: 5, limit: 3 });
    expect(await share('a', { wanted: 5, limit: 3 })).toMatchObject({ holds: 0, owner: 'shared' });
    expect((await share('b', { limit: 3 })).owner).toBe('shared');

    expect(await holders()).toHaveLength(3);
    expect(await waiters()).toEqual(['a|3000|2|s1of3', 'b|3000|1|s1of3']);
  });

  it('release once: a second release affects no holder', async () => {
    const messages = await listen('c');
    for (const instance of ['a', 'b', 'c']) await share(instance, { limit: 2 });
    const owner = await ownerOf('a');
    expect(await free(owner)).toBe(1);
    expect(await free(owner)).toBe(0);

    expect(await holders()).toEqual(['b~s1of2', 'c~s1of2']);
    await waitFor(() => messages.length === 1);
  });

  it('shorten no lease when a request arrives a second time', async () => {
    await share('a', { ttl: 500, wanted: 2 });
    const owner = await ownerOf('a', 2);
    await run(extendScript, [owner, 60_000], [LOCK, SHARED]);
    await release('a');
    await share('a', { ttl: 500, wanted: 2 });

    expect(await leaseOf(owner)).toBeGreaterThan(55_000);
    expect(await client.pttl(LOCK)).toBeGreaterThan(55_000);
  });

  it('lengthen no lease that the instance knows', async () => {
    const { first } = await share('a', { ttl: 500 });
    await share('a', { known: [String(first)] });

    expect(await leaseOf(`a~s1:${first}`)).toBeLessThanOrEqual(500);
  });

  it('grant consecutive readers by one release, with one message to each instance, up to the writer behind them', async () => {
    const [b, c, w, d] = await Promise.all(['b', 'c', 'w', 'd'].map(listen));
    const token = await acquire('a');
    await share('b', { wanted: 3 });
    await share('c', { wanted: 2 });
    await acquire('w');
    await share('d');
    await run(releaseScript, ['a', BOTH, Number(token)]);

    expect(await holders()).toEqual(['b~s1', 'b~s1', 'b~s1', 'c~s1', 'c~s1']);
    expect(await waiters()).toEqual(['w|3000|1', 'd|3000|1|s1']);
    await waitFor(() => b?.length === 1 && c?.length === 1);
    expect(b).toEqual([expect.stringMatching(/^shared \d+ 3\/192 3000 s1 n$/)]);
    expect([w, d]).toEqual([[], []]);
  });

  it('keep the place of an instance that asks again, also for another number, and restore the places behind it', async () => {
    await Promise.all(['b', 'w', 'c'].map(listen));
    await acquire('a');
    await share('b');
    await acquire('w');
    await share('c', { limit: 4 });
    const before = await client.zrange(QUEUE, '0', '-1', 'WITHSCORES');
    await share('c', { limit: 4 });
    await share('b');
    expect(await client.zrange(QUEUE, '0', '-1', 'WITHSCORES')).toEqual(before);
    await share('b', { wanted: 3 });

    expect(await waiters()).toEqual(['b|3000|3|s1', 'w|3000|1', 'c|3000|1|s1of4']);
    expect(await client.zscore(QUEUE, 'b|3000|3|s1')).toBe(before[1]);
  });

  it('keep a place for each of the terms of an instance', async () => {
    await acquire('a');
    await share('b', { limit: 4 });
    await share('b', { limit: 4, permits: 2 });
    await share('b');

    expect(await waiters()).toEqual(['b|3000|1|s1of4', 'b|3000|1|s2of4', 'b|3000|1|s1']);
  });

  it('skip a dead waiter at the head while others hold', async () => {
    await share('a');
    await acquire('dead');
    expect((await share('b')).holds).toBe(1);

    expect(await holders()).toEqual(['a~s1', 'b~s1']);
    expect(await waiters()).toEqual([]);
  });

  it('let a live waiter at the head block others, and ask it whether it still waits', async () => {
    const messages = await listen('w');
    await share('a');
    await acquire('w');
    expect((await share('b')).owner).toBe('shared');

    expect(await waiters()).toEqual(['w|3000|1', 'b|3000|1|s1']);
    await waitFor(() => messages.length === 1);
    expect(messages).toEqual(['waiting w|3000|1 n']);
  });

  it('let a single attempt overtake a dead waiter at the head, but no live one', async () => {
    await share('a');
    await acquire('dead');
    expect((await share('b', { attempt: 'once' })).holds).toBe(1);
    await listen('w');
    await acquire('w');
    expect((await share('c', { attempt: 'once' })).owner).toBe('shared');

    expect(await waiters()).toEqual(['w|3000|1']);
  });

  it('pass unneeded permits to the waiters behind', async () => {
    await Promise.all(['b', 'c'].map(listen));
    await acquire('a');
    await share('b', { wanted: 3, limit: 3 });
    await share('c', { wanted: 2, limit: 3 });
    await client.del(LOCK);

    expect((await share('b', { wanted: 1, limit: 3 })).holds).toBe(1);
    expect(await holders()).toEqual(['b~s1of3', 'c~s1of3', 'c~s1of3']);
  });

  it('pass permits with expired leases to waiters, while others hold', async () => {
    await listen('c');
    await share('a', { limit: 2, ttl: 60_000 });
    await share('b', { limit: 2, ttl: 50 });
    expect((await share('c', { limit: 2 })).left).toBeLessThanOrEqual(50);
    await waitFor(async () => (await shared('c', { limit: 2 })) === 1);

    expect(await holders()).toEqual(['a~s1of2', 'c~s1of2']);
  });

  it('return the end of the first lease to a waiter for a permit', async () => {
    await share('a', { limit: 2, ttl: 60_000 });
    await share('b', { limit: 2, ttl: 5_000 });
    const { left, owner } = await share('c', { limit: 2 });

    expect(left).toBeLessThanOrEqual(5_000);
    expect(left).toBeGreaterThan(4_000);
    expect(owner).toBe('shared');
  });

  it('extend no lost hold, and revive none', async () => {
    await share('a', { ttl: 5_000 });
    const owner = await ownerOf('a');
    const on = [LOCK, SHARED, 'lock:{gone}', 'lock:{gone}:s'];
    expect(await run(extendScript, ['a~s1:2', 9_000, owner, 9_000], on)).toEqual([0, 0]);
    await client.del(LOCK);
    expect(await run(extendScript, [owner, 9_000], [LOCK, SHARED])).toEqual([0]);
    await client.set(LOCK, 'somebody', 'PX', 5_000);
    expect(await run(extendScript, [owner, 9_000], [LOCK, SHARED])).toEqual([0]);
    expect(await free(owner)).toBe(0);

    expect(await client.get(LOCK)).toBe('somebody');
  });

  it('shorten a lease only on request', async () => {
    await share('a', { ttl: 9_000 });
    const owner = await ownerOf('a');
    await run(extendScript, [owner, 1_000], [LOCK, SHARED]);
    expect(await leaseOf(owner)).toBeGreaterThan(8_000);
    await run(extendScript, [owner, '=1000'], [LOCK, SHARED]);

    expect(await leaseOf(owner)).toBeLessThanOrEqual(1_000);
    expect(await client.pttl(LOCK)).toBeLessThanOrEqual(1_000);
  });

  it('take no holders over from before the lock was lost', async () => {
    await share('a', { limit: 1, ttl: 60_000 });
    await client.del(LOCK);
    expect((await share('b', { limit: 1 })).holds).toBe(1);

    expect(await holders()).toEqual(['b~s1of1']);
  });

  it('transfer a shared hold once, to one of several takers, and repeat the reply to a repeated request', async () => {
    await share('a', { wanted: 2 });
    const change = (from: string, to: string, ttl = 10_000): Promise<unknown> =>
      run(transferScript, [1, from, to, ttl], [LOCK, SHARED]);
    expect(await change(await ownerOf('a'), 'a~s1xf:7')).toBe(1);
    expect(await change('a~s1xf:7', 'b~s1xf:7')).toBe(1);
    expect(await change('a~s1xf:7', 'c~s1xf:7')).toBe(0);
    // The same request, from a connection that was given up: it must not lengthen what was shortened since.
    expect(await change('a~s1xf:7', 'b~s1xf:7', 30_000)).toBe(1);

    expect(await leaseOf('b~s1xf:7')).toBeLessThanOrEqual(10_000);
    expect(await holders()).toEqual(['a~s1', 'b~s1xf']);
  });

  it('name the holds of an instance that leaves the queue, and end none', async () => {
    await Promise.all(['a', 'w'].map(listen));
    const { first, floor } = await share('a', { wanted: 3 });
    await acquire('w');
    await release('a', 2);
    const both = [`a~s1:${first}`, `a~s1:${first + 128}`];
    expect(await cancel('a')).toEqual(both);
    expect(await cancel('a', {}, first)).toEqual(both.slice(1));
    expect(await cancel('a', {}, floor)).toEqual([]);
    expect(await cancel('a', { limit: 3 })).toEqual([]);

    expect(await members()).toEqual(both);
    expect(await waiters()).toEqual(['w|3000|1']);
  });

  it('remove the place of an instance that leaves the queue, whatever its number', async () => {
    await acquire('a');
    await share('b', { wanted: 3, limit: 5 });
    await share('b', { wanted: 2 });
    await share('c', { wanted: 3, limit: 5 });
    await cancel('b', { limit: 5 });

    expect(await waiters()).toEqual(['b|3000|2|s1', 'c|3000|3|s1of5']);
  });

  it('hand a free lock on when the notified waiter leaves', async () => {
    await Promise.all(['b', 'w'].map(listen));
    await share('a');
    await acquire('w');
    await share('b');
    await client.del(LOCK);
    expect(await run(cancelScript, ['w', 'w|3000|1', ...PREFIXES])).toEqual([]);

    expect(await client.get(LOCK)).toBe('shared');
    expect(await holders()).toEqual(['b~s1']);
    expect(await waiters()).toEqual([]);
  });

  it('continue with the readers behind a writer that leaves the queue', async () => {
    await Promise.all(['w', 'b'].map(listen));
    await share('a');
    await acquire('w');
    await share('b');
    expect(await run(cancelScript, ['w', 'w|3000|1', ...PREFIXES])).toEqual([]);

    expect(await holders()).toEqual(['a~s1', 'b~s1']);
  });

  describe('a place with a limit', () => {
    const PERMIT = { limit: 2 } as const;
    const TAG = 's1of2';

    it('stays at the head, and is served hold by hold before those behind it', async () => {
      const [b, c] = await Promise.all(['b', 'c'].map(listen));
      await share('a', { ...PERMIT, wanted: 2 });
      await share('b', { ...PERMIT, wanted: 4 });
      await share('c', PERMIT);
      const before = await client.zrange(QUEUE, '0', '-1', 'WITHSCORES');
      await release('a');
      expect(await client.zrange(QUEUE, '0', '-1', 'WITHSCORES')).toEqual(
        before.map((each) => (each === `b|3000|4|${TAG}` ? `b|3000|3|${TAG}` : each)),
      );
      await release('a');
      for (let i = 0; i < 3; i++) await release('b');

      expect(await holders()).toEqual([`b~${TAG}`, `c~${TAG}`]);
      await waitFor(() => c?.some((message) => message.startsWith('shared')));
      expect(b?.filter((message) => message.startsWith('shared'))).toHaveLength(4);
      expect(await waiters()).toEqual([]);
    });

    it('blocks a writer behind it, and is blocked by none', async () => {
      await Promise.all(['b', 'w'].map(listen));
      await share('a', { limit: 1 });
      await share('b', { limit: 1, wanted: 2 });
      await acquire('w');
      await release('a');
      expect(await holders()).toEqual(['b~s1of1']);
      await release('b');
      expect(await holders()).toEqual(['b~s1of1']);
      await release('b');

      expect(await client.get(LOCK)).toMatch(/^w:/);
    });

    it('is taken although the lock was free and the reply granted a part', async () => {
      expect(await share('a', { ...PERMIT, wanted: 5 })).toMatchObject({ holds: 2, owner: 'shared' });
      expect(await waiters()).toEqual([`a|3000|3|${TAG}`]);
      expect(await share('a', { ...PERMIT, wanted: 5 })).toMatchObject({ holds: 0, owner: 'shared' });
      expect(await waiters()).toEqual([`a|3000|3|${TAG}`]);
      await cancel('a', PERMIT);
      for (let i = 0; i < 2; i++) await release('a');

      expect((await share('b', { ...PERMIT, wanted: 5, attempt: 'once' })).holds).toBe(2);
      expect(await waiters()).toEqual([]);
    });

    it('stays when its instance requests it', async () => {
      await Promise.all(['b', 'c'].map(listen));
      await share('a', { ...PERMIT, wanted: 2, ttl: 50 });
      await share('b', { ...PERMIT, wanted: 3 });
      await share('c', PERMIT);
      await waitFor(async () => (await shared('b', { ...PERMIT, wanted: 3 })) === 2);

      expect(await waiters()).toEqual([`b|3000|1|${TAG}`, `c|3000|1|${TAG}`]);
    });

    it('is left if fewer are wanted by now than the limit allows', async () => {
      await listen('b');
      await share('a', { limit: 1, ttl: 50 });
      await share('b', { limit: 1, wanted: 3 });
      await waitFor(async () => (await shared('b', { limit: 1, wanted: 1 })) === 1);

      expect(await waiters()).toEqual([]);
    });

    it('is found waiting by a request that finds the earlier grant', async () => {
      await listen('b');
      await share('a', { ...PERMIT, wanted: 2 });
      await share('b', { ...PERMIT, wanted: 3 });
      await release('a');
      expect(await share('b', { ...PERMIT, wanted: 3 })).toMatchObject({ holds: 0, owner: 'shared' });
      expect(await waiters()).toEqual([`b|3000|2|${TAG}`]);
      await release('a');

      expect((await share('b', { ...PERMIT, wanted: 3 })).found).toHaveLength(2);
      expect(await holders()).toEqual([`b~${TAG}`, `b~${TAG}`]);
      expect(await waiters()).toEqual([`b|3000|1|${TAG}`]);
    });

    it('receives the holds of one lock that are released in one call by one message', async () => {
      const messages = await listen('b');
      await share('a', { limit: 3, wanted: 3 });
      await share('b', { limit: 3, wanted: 5 });
      const on = ['lock:fence', ...[1, 2, 3].flatMap(() => [LOCK, QUEUE, SHARED])];
      const owners = [await ownerOf('a', 1), await ownerOf('a', 2)];
      expect(await run(releaseSharedScript, [BOTH, ...owners, owners[1] ?? ''], on)).toEqual([1, 1, 0]);

      await waitFor(() => messages.length > 0);
      expect(messages).toEqual([expect.stringMatching(/^shared \d+ 2\/128 3000 s1of3 n$/)]);
      expect(await holders()).toEqual(['a~s1of3', 'b~s1of3', 'b~s1of3']);
    });

    it('is lost by an instance that is dead', async () => {
      const subscriber = server.client();
      await subscriber.subscribe('lock:inbox:mortal');
      await listen('c');
      await share('a', { ...PERMIT, wanted: 2 });
      await share('mortal', { ...PERMIT, wanted: 3 });
      await share('c', PERMIT);
      await release('a');
      await subscriber.unsubscribe();
      await release('a');

      expect(await holders()).toEqual([`c~${TAG}`, `mortal~${TAG}`]);
      expect(await waiters()).toEqual([]);
    });

    it.each([
      ['the only hold', 1],
      ['one of two holds', 2],
    ])('is lost by an instance that lets %s by hand-off expire: it may be frozen', async (_, limit) => {
      await Promise.all(['b', 'c'].map(listen));
      await share('a', { limit, wanted: limit });
      await share('b', { limit, wanted: 5, claimTtl: 50 });
      await share('c', { limit });
      await release('a');
      expect(await waiters()).toEqual([`b|50|4|s1of${limit}`, `c|3000|1|s1of${limit}`]);
      await waitFor(
        async () => (await share('d', { limit })).owner === 'shared' && (await waiters()).length === 1,
      );

      expect(await waiters()).toEqual([`d|3000|1|s1of${limit}`]);
      expect(await holders()).toContain(`c~s1of${limit}`);
    });

    it.each([
      ['renewed', async () => run(extendScript, [await ownerOf('b'), 400], [LOCK, SHARED])],
      ['asked for', async () => share('b', { ...PERMIT, wanted: 5, claimTtl: 300, ttl: 400 })],
    ])('stays with an instance that has %s its hold before it expired', async (_, confirm) => {
      await Promise.all(['b', 'c'].map(listen));
      await share('a', { ...PERMIT, wanted: 2 });
      // Long enough to confirm the hold in time on a busy machine.
      await share('b', { ...PERMIT, wanted: 5, claimTtl: 300 });
      await share('c', PERMIT);
      await release('a');
      const [left, given] = [await ownerOf('a'), await ownerOf('b')];
      await confirm();
      await waitFor(async () => {
        await share('c', PERMIT);
        return (await members()).some((owner) => ![left, given].includes(owner));
      });

      expect(await holders()).toEqual([`a~${TAG}`, `b~${TAG}`]);
    });

    it('continues when the holders are released forcibly', async () => {
      await Promise.all(['a', 'b'].map(listen));
      await share('a', { ...PERMIT, wanted: 2 });
      await share('b', { ...PERMIT, wanted: 5 });
      await release('a');
      await run(forceReleaseScript, [...PREFIXES, '']);

      expect(await holders()).toEqual([`b~${TAG}`, `b~${TAG}`]);
      expect(await waiters()).toEqual([`b|3000|2|${TAG}`]);
    });

    it('stays although no message arrives, until one of its claim leases expires', async () => {
      const silent = '5 ';
      const ask = (instance: string, wanted: number, known: readonly string[] = []): Promise<Reply> =>
        share(instance, { limit: 1, wanted, claimTtl: 50, known }, silent);
      const hand = async (owner: string): Promise<unknown> => run(releaseSharedScript, [silent, owner]);
      await ask('a', 1);
      await ask('b', 3);
      await ask('c', 1);
      await hand(await ownerOf('a'));
      expect((await ask('b', 3)).found).toHaveLength(1);
      await hand(await ownerOf('b'));
      const second = await ownerOf('b');
      expect(second).toMatch(/^b~s1of1:/);
      await waitFor(async () => {
        await ask('c', 1);
        return (await members()).some((owner) => owner !== second);
      });

      expect(await holders()).toEqual(['c~s1of1']);
      expect(await waiters()).toEqual([]);
    });
  });
});
