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

type Reply =
  | readonly [token: number, holds: number | string]
  | readonly [remaining: number, owner: string, tokenFloor: number];

interface Terms {
  readonly ttl?: number;
  /** Holds wanted now; those of the place in the queue are as many unless told otherwise. */
  readonly wanted?: number;
  readonly wantedAtFirst?: number;
  readonly limit?: number | '';
  readonly claimTtl?: number;
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

  /** Asks for shared holds of the turn `<instance>~<turn>`. */
  const share = async (
    turn: string,
    {
      ttl = 10_000,
      wanted = 1,
      wantedAtFirst = wanted,
      limit = '',
      claimTtl = 3_000,
      attempt = 'waits',
    }: Terms = {},
  ): Promise<Reply> => {
    const [instance = '', tag] = turn.split('~');
    const rest = attempt === 'waits' ? `${claimTtl}|${wantedAtFirst}` : '';
    const terms = `${ttl} ${wanted} ${tag} ${limit} ${rest}`;
    const [reply] = (await run(acquireSharedScript, [instance, '', `0 ${BOTH}`, terms])) as [Reply];
    if (reply.length === 3) return reply;
    const [holds = 0, tokens] = String(reply[1]).split('/').map(Number);
    expect(tokens).toBe(16 * holds);
    return [reply[0], holds];
  };
  /** Asks for the lock alone. */
  const acquire = async (instance: string): Promise<unknown> => {
    const reply = await run(acquireScript, [instance, '', `0 ${BOTH}`, '10000 1 3000|1']);
    return Array.isArray(reply) ? reply[0] : reply;
  };
  const release = async (owner: string): Promise<unknown> => {
    const [reply] = (await run(releaseSharedScript, [BOTH, owner])) as [unknown];
    return reply;
  };
  const holders = (): Promise<string[]> =>
    client.zrange(SHARED, '0', '(inf', 'BYSCORE').then((owners) => owners.toSorted());
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
    await share('a~s1', { ttl: 5_000 });
    await share('b~s1', { ttl: 60_000 });
    expect(await client.get(LOCK)).toBe('shared');
    expect(await client.pttl(LOCK)).toBeGreaterThan(55_000);
    expect(await release('b~s1:1')).toBe(1);
    expect(await client.pttl(LOCK)).toBeLessThanOrEqual(5_000);
    // A minute longer, so that the end of a claim lease is not missed.
    expect(await client.pttl(SHARED)).toBeLessThanOrEqual(65_000);
    expect(await release('a~s1:1')).toBe(1);

    expect(await client.keys('*')).toEqual(['lock:fence']);
  });

  it('grant all permits of a hold together, and admit no later caller before', async () => {
    await listen('b');
    await listen('c');
    await share('a~s1', { wanted: 2, limit: 3 });

    expect((await share('b~s02p1', { limit: 3 }))[1]).toBe('shared');
    expect((await share('c~s1', { limit: 3 }))[1]).toBe('shared');
    expect(await holders()).toEqual(['a~s1:1', 'a~s1:2']);
    await release('a~s1:1');

    expect(await holders()).toEqual(['a~s1:2', 'b~s02p1:1']);
    await release('a~s1:2');
    expect(await holders()).toEqual(['b~s02p1:1', 'c~s1:1']);
  });

  it('grant as many holds of several permits as the limit has room for, and keep the place of the others', async () => {
    await listen('a');

    expect((await share('a~s02p1', { wanted: 3, limit: 5 }))[1]).toBe(2);
    expect(await waiters()).toEqual(['a|3000|1|s02p1X2|5']);
    await release('a~s02p1:1');

    expect(await holders()).toEqual(['a~s02p1:2', 'a~s02p1X2:1']);
  });

  it('grant no part of a hold to a single attempt', async () => {
    await share('a~s1', { wanted: 2, limit: 3 });

    expect((await share('b~s02p1', { limit: 3, attempt: 'once' }))[1]).toBe('shared');
    expect((await share('c~s1', { limit: 3, attempt: 'once' }))[1]).toBe(1);
  });

  it('grant the same holds to a repeated request of a turn, with growing tokens', async () => {
    const [token, holds] = await share('a~s1', { wanted: 3 });
    const [again, same] = await share('a~s1', { wanted: 3 });

    expect([holds, same]).toEqual([3, 3]);
    expect(again).toBeGreaterThanOrEqual(token + 3);
    expect(await holders()).toEqual(['a~s1:1', 'a~s1:2', 'a~s1:3']);
  });

  it('mint 16 tokens for each hold, and say so', async () => {
    const messages = await listen('b');
    const [token, holds] = await share('a~s1', { wanted: 3, limit: 3 });
    expect(holds).toBe(3);
    await share('b~s1', { wanted: 2, limit: 3 });
    await release('a~s1:2');
    await waitFor(() => messages.length === 1);
    const [, next, block] = /^shared (\d+) (\S+) 3000 s1 n$/.exec(messages[0] ?? '') ?? [];

    expect(block).toBe('1/16');
    expect(Number(next)).toBeGreaterThanOrEqual(token + 48);
    expect(await waiters()).toEqual(['b|3000|1|s1X1|3']);
    expect(Number(await client.get('lock:fence'))).toBeGreaterThanOrEqual(Number(next) + 15);
  });

  it('count no permit twice for a repeated request of a turn', async () => {
    await share('a~s1', { wanted: 5, limit: 3 });
    expect((await share('a~s1', { wanted: 5, limit: 3 }))[1]).toBe(3);
    expect((await share('b~s1', { limit: 3 }))[1]).toBe('shared');

    expect(await holders()).toHaveLength(3);
  });

  it('release once: a second release affects no holder', async () => {
    const messages = await listen('c');
    await share('a~s1', { limit: 2 });
    await share('b~s1', { limit: 2 });
    await share('c~s1', { limit: 2 });
    expect(await release('a~s1:1')).toBe(1);
    expect(await release('a~s1:1')).toBe(0);

    expect(await holders()).toEqual(['b~s1:1', 'c~s1:1']);
    await waitFor(() => messages.length === 1);
  });

  it('shorten no lease when a request arrives a second time, after its turn', async () => {
    await share('a~s1', { ttl: 500, wanted: 2 });
    await run(extendScript, ['a~s1:2', 60_000], [LOCK, SHARED]);
    await release('a~s1:1');
    await share('a~s1', { ttl: 500, wanted: 2 });

    expect(await leaseOf('a~s1:2')).toBeGreaterThan(55_000);
    expect(await client.pttl(LOCK)).toBeGreaterThan(55_000);
  });

  it('shorten no lease when an abandoned place is served after its turn', async () => {
    await listen('a');
    await share('a~s1', { wanted: 2 });
    await run(extendScript, ['a~s1:2', 60_000], [LOCK, SHARED]);
    await release('a~s1:1');
    await acquire('w');
    await share('a~s1', { wanted: 2 });
    await run(cancelScript, ['w', 'w|3000|1', ...PREFIXES]);

    expect(await leaseOf('a~s1:2')).toBeGreaterThan(55_000);
  });

  it('grant consecutive readers by one release, with one message to each instance, up to the writer behind them', async () => {
    const [b, c, w, d] = await Promise.all(['b', 'c', 'w', 'd'].map(listen));
    const token = await acquire('a');
    await share('b~s1', { wanted: 3 });
    await share('c~s1', { wanted: 2 });
    await acquire('w');
    await share('d~s1');
    await run(releaseScript, ['a', BOTH, Number(token)]);

    expect(await holders()).toEqual(['b~s1:1', 'b~s1:2', 'b~s1:3', 'c~s1:1', 'c~s1:2']);
    expect(await waiters()).toEqual(['w|3000|1', 'd|3000|1|s1|']);
    await waitFor(() => b?.length === 1 && c?.length === 1);
    expect(b).toEqual([expect.stringMatching(/^shared \d+ 3\/48 3000 s1 n$/)]);
    expect([w, d]).toEqual([[], []]);
  });

  it('keep the place of a turn that asks again, and restore the places behind it', async () => {
    await Promise.all(['b', 'w', 'c'].map(listen));
    await acquire('a');
    await share('b~s1');
    await acquire('w');
    await share('c~s7', { limit: 4 });
    const before = await client.zrange(QUEUE, '0', '-1', 'WITHSCORES');
    await share('c~s7', { limit: 4 });
    await share('b~s1');

    expect(await client.zrange(QUEUE, '0', '-1', 'WITHSCORES')).toEqual(before);
    expect(await waiters()).toEqual(['b|3000|1|s1|', 'w|3000|1', 'c|3000|1|s7|4']);
  });

  it('skip a dead waiter at the head while others hold', async () => {
    await share('a~s1');
    await acquire('dead');
    expect(await share('b~s1')).toHaveLength(2);

    expect(await holders()).toEqual(['a~s1:1', 'b~s1:1']);
    expect(await waiters()).toEqual([]);
  });

  it('let a live waiter at the head block others, and ask it whether it still waits', async () => {
    const messages = await listen('w');
    await share('a~s1');
    await acquire('w');
    expect((await share('b~s1'))[1]).toBe('shared');

    expect(await waiters()).toEqual(['w|3000|1', 'b|3000|1|s1|']);
    await waitFor(() => messages.length === 1);
    expect(messages).toEqual(['waiting w|3000|1 n']);
  });

  it('let a single attempt overtake a dead waiter at the head, but no live one', async () => {
    await share('a~s1');
    await acquire('dead');
    expect((await share('b~s1', { attempt: 'once' }))[1]).toBe(1);
    await listen('w');
    await acquire('w');
    expect((await share('c~s1', { attempt: 'once' }))[1]).toBe('shared');

    expect(await waiters()).toEqual(['w|3000|1']);
  });

  it('pass unneeded permits of a turn to the waiters behind it', async () => {
    await Promise.all(['b', 'c'].map(listen));
    const token = await acquire('a');
    await share('b~s1', { wanted: 3, limit: 3 });
    await share('c~s1', { wanted: 2, limit: 3 });
    await client.del(LOCK);
    expect(token).toEqual(expect.any(Number));
    const [, holds] = await share('b~s1', { wanted: 1, wantedAtFirst: 3, limit: 3 });

    expect(holds).toBe(1);
    expect(await holders()).toEqual(['b~s1:1', 'c~s1:1', 'c~s1:2']);
  });

  it('pass permits with expired leases to waiters, while others hold', async () => {
    await listen('c');
    await share('a~s1', { limit: 2, ttl: 60_000 });
    await share('b~s1', { limit: 2, ttl: 50 });
    const [left] = await share('c~s1', { limit: 2 });
    expect(left).toBeLessThanOrEqual(50);
    await waitFor(async () => (await share('c~s1', { limit: 2 }))[1] === 1);

    expect(await holders()).toEqual(['a~s1:1', 'c~s1:1']);
  });

  it('return the end of the first lease to a waiter for a permit', async () => {
    await share('a~s1', { limit: 2, ttl: 60_000 });
    await share('b~s1', { limit: 2, ttl: 5_000 });
    const [left, owner] = await share('c~s1', { limit: 2 });

    expect(left).toBeLessThanOrEqual(5_000);
    expect(left).toBeGreaterThan(4_000);
    expect(owner).toBe('shared');
  });

  it('extend no lost hold, and revive none', async () => {
    await share('a~s1', { ttl: 5_000 });
    const on = [LOCK, SHARED, 'lock:{gone}', 'lock:{gone}:s'];
    expect(await run(extendScript, ['a~s1:2', 9_000, 'a~s1:1', 9_000], on)).toEqual([0, 0]);
    await client.del(LOCK);
    expect(await run(extendScript, ['a~s1:1', 9_000], [LOCK, SHARED])).toEqual([0]);
    await client.set(LOCK, 'somebody', 'PX', 5_000);
    expect(await run(extendScript, ['a~s1:1', 9_000], [LOCK, SHARED])).toEqual([0]);
    expect(await release('a~s1:1')).toBe(0);

    expect(await client.get(LOCK)).toBe('somebody');
  });

  it('shorten a lease only on request', async () => {
    await share('a~s1', { ttl: 9_000 });
    await run(extendScript, ['a~s1:1', 1_000], [LOCK, SHARED]);
    expect(await leaseOf('a~s1:1')).toBeGreaterThan(8_000);
    await run(extendScript, ['a~s1:1', '=1000'], [LOCK, SHARED]);

    expect(await leaseOf('a~s1:1')).toBeLessThanOrEqual(1_000);
    expect(await client.pttl(LOCK)).toBeLessThanOrEqual(1_000);
  });

  it('take no holders over from before the lock was lost', async () => {
    await share('a~s1', { limit: 1, ttl: 60_000 });
    await client.del(LOCK);
    expect((await share('b~s1', { limit: 1 }))[1]).toBe(1);

    expect(await holders()).toEqual(['b~s1:1']);
  });

  it('transfer a shared hold once, to one of several takers, and repeat the reply to a repeated request', async () => {
    await share('a~s1', { wanted: 2 });
    const change = (from: string, to: string, ttl = 10_000): Promise<unknown> =>
      run(transferScript, [1, from, to, ttl], [LOCK, SHARED]);
    expect(await change('a~s1:1', 'a~sgone:7')).toBe(1);
    expect(await change('a~sgone:7', 'b~staken:7')).toBe(1);
    expect(await change('a~sgone:7', 'c~staken:7')).toBe(0);
    // The same request, from a connection that was given up: it must not lengthen what was shortened since.
    expect(await change('a~sgone:7', 'b~staken:7', 30_000)).toBe(1);

    expect(await leaseOf('b~staken:7')).toBeLessThanOrEqual(10_000);
    expect(await holders()).toEqual(['a~s1:2', 'b~staken:7']);
  });

  it('end the grants of a turn with its place, and hand them on', async () => {
    await Promise.all(['a', 'b', 'w'].map(listen));
    await share('a~s1', { wanted: 2 });
    await acquire('w');
    await run(cancelScript, ['a', 'a|3000|2|s1|', ...PREFIXES]);
    await run(cancelScript, ['a', 'a|3000|2|s1|', ...PREFIXES]);

    expect(await client.get(LOCK)).toMatch(/^w:/);
    expect(await client.zcard(SHARED)).toBe(0);
  });

  it('hand a free lock on when the notified waiter leaves', async () => {
    await Promise.all(['b', 'w'].map(listen));
    const [token] = await share('a~s1');
    expect(token).toBeGreaterThan(0);
    await acquire('w');
    await share('b~s1');
    await client.del(LOCK);
    expect(await run(cancelScript, ['w', 'w|3000|1', ...PREFIXES])).toBeNull();

    expect(await client.get(LOCK)).toBe('shared');
    expect(await holders()).toEqual(['b~s1:1']);
    expect(await waiters()).toEqual([]);
  });

  it('end all holds of a turn with its place, although the first one was released', async () => {
    await Promise.all(['a', 'w'].map(listen));
    await share('a~s1', { wanted: 3 });
    await release('a~s1:1');
    await acquire('w');
    await run(cancelScript, ['a', 'a|3000|3|s1|', ...PREFIXES]);

    expect(await client.get(LOCK)).toMatch(/^w:/);
    expect(await client.zcard(SHARED)).toBe(0);
  });

  it('end the rest of a turn without the holds that were granted before it', async () => {
    await listen('a');
    await share('a~s1', { wanted: 3, limit: 2 });
    await release('a~s1:1');
    await run(cancelScript, ['a', 'a|3000|1|s1X2|2', ...PREFIXES]);

    expect(await holders()).toEqual(['a~s1:2']);
    expect(await waiters()).toEqual([]);
  });

  it('continue with the readers behind a writer that leaves the queue', async () => {
    await Promise.all(['w', 'b'].map(listen));
    await share('a~s1');
    await acquire('w');
    await share('b~s1');
    expect(await run(cancelScript, ['w', 'w|3000|1', ...PREFIXES])).toBeNull();

    expect(await holders()).toEqual(['a~s1:1', 'b~s1:1']);
  });

  describe('the rest of a limited turn', () => {
    const PERMIT = { limit: 2 } as const;
    const rest = (turn: string, wanted: number): string => `${turn.replace('~', `|3000|${wanted}|`)}|2`;
    const cancel = (place: string): Promise<unknown> =>
      run(cancelScript, [place.slice(0, place.indexOf('|')), place, ...PREFIXES]);

    it('keeps its place at the head, and is served hold by hold before those behind it', async () => {
      const [b, c] = await Promise.all(['b', 'c'].map(listen));
      await share('a~s1', { ...PERMIT, wanted: 2 });
      await share('b~s1', { ...PERMIT, wanted: 4 });
      await share('c~s1', PERMIT);
      const before = await client.zrange(QUEUE, '0', '-1', 'WITHSCORES');
      await release('a~s1:1');
      expect(await client.zrange(QUEUE, '0', '-1', 'WITHSCORES')).toEqual(
        before.map((each) => (each === rest('b~s1', 4) ? rest('b~s1X1', 3) : each)),
      );
      for (const owner of ['a~s1:2', 'b~s1:1', 'b~s1X1:1', 'b~s1X2:1']) await release(owner);

      expect(await holders()).toEqual(['b~s1X3:1', 'c~s1:1']);
      await waitFor(() => c?.some((message) => message.startsWith('shared')));
      const grants = b?.filter((message) => message.startsWith('shared'));
      expect(grants?.map((message) => message.split(' ')[4])).toEqual(['s1', 's1X1', 's1X2', 's1X3']);
      expect(await waiters()).toEqual([]);
    });

    it('blocks a writer behind it, and is blocked by none', async () => {
      await Promise.all(['b', 'w'].map(listen));
      await share('a~s1', { limit: 1 });
      await share('b~s1', { limit: 1, wanted: 2 });
      await acquire('w');
      await release('a~s1:1');
      expect(await holders()).toEqual(['b~s1:1']);
      await release('b~s1:1');
      expect(await holders()).toEqual(['b~s1X1:1']);
      await release('b~s1X1:1');

      expect(await client.get(LOCK)).toMatch(/^w:/);
    });

    it('waits although the lock was free and the reply granted a part of the turn', async () => {
      expect((await share('a~s1', { ...PERMIT, wanted: 5 }))[1]).toBe(2);
      expect(await waiters()).toEqual([rest('a~s1X2', 3)]);
      expect((await share('a~s1X2', { ...PERMIT, wanted: 3 }))[1]).toBe('shared');
      expect(await waiters()).toEqual([rest('a~s1X2', 3)]);
      await cancel(rest('a~s1X2', 3));
      await Promise.all(['a~s1:1', 'a~s1:2'].map(release));

      expect((await share('b~s1', { ...PERMIT, wanted: 5, attempt: 'once' }))[1]).toBe(2);
      expect(await waiters()).toEqual([]);
    });

    it('keeps its place when its instance requests it', async () => {
      await Promise.all(['b', 'c'].map(listen));
      await share('a~s1', { ...PERMIT, wanted: 2, ttl: 50 });
      await share('b~s1', { ...PERMIT, wanted: 3 });
      await share('c~s1', PERMIT);
      await waitFor(async () => (await share('b~s1', { ...PERMIT, wanted: 3 }))[1] === 2);

      expect(await waiters()).toEqual([rest('b~s1X2', 1), rest('c~s1', 1)]);
    });

    it('is empty if fewer are wanted by now than the limit allows', async () => {
      await listen('b');
      await share('a~s1', { limit: 1, ttl: 50 });
      await share('b~s1', { limit: 1, wanted: 3 });
      await waitFor(async () => (await share('b~s1', { limit: 1, wanted: 1, wantedAtFirst: 3 }))[1] === 1);

      expect(await waiters()).toEqual([]);
    });

    it('is found waiting by a request that finds the earlier grant', async () => {
      await listen('b');
      await share('a~s1', { ...PERMIT, wanted: 2 });
      await share('b~s1', { ...PERMIT, wanted: 3 });
      await release('a~s1:1');
      expect((await share('b~s1', { ...PERMIT, wanted: 3 }))[1]).toBe(1);
      expect(await waiters()).toEqual([rest('b~s1X1', 2)]);
      await release('a~s1:2');
      expect((await share('b~s1X1', { ...PERMIT, wanted: 2 }))[1]).toBe(1);

      expect(await holders()).toEqual(['b~s1:1', 'b~s1X1:1']);
    });

    it('receives the holds of one lock that are released in one call by one message', async () => {
      const messages = await listen('b');
      await share('a~s1', { limit: 3, wanted: 3 });
      await share('b~s1', { limit: 3, wanted: 5 });
      const on = ['lock:fence', ...[1, 2, 3].flatMap(() => [LOCK, QUEUE, SHARED])];
      const owners = ['a~s1:1', 'a~s1:2', 'a~s1:2'];
      expect(await run(releaseSharedScript, [BOTH, ...owners], on)).toEqual([1, 1, 0]);

      await waitFor(() => messages.length > 0);
      expect(messages).toEqual([expect.stringMatching(/^shared \d+ 2\/32 3000 s1 n$/)]);
      expect(await holders()).toEqual(['a~s1:3', 'b~s1:1', 'b~s1:2']);
    });

    it('leaves with its turn, with all that was granted to it since, and with nothing that was granted before', async () => {
      await Promise.all(['b', 'c'].map(listen));
      await share('a~s1', { limit: 4, wanted: 4 });
      await share('b~s1', { limit: 4, wanted: 9 });
      for (const hold of [1, 2, 3]) await release(`a~s1:${hold}`);
      expect(await holders()).toEqual(['a~s1:4', 'b~s1:1', 'b~s1X1:1', 'b~s1X2:1']);
      await share('c~s1', { limit: 4, wanted: 4 });
      await cancel('b|3000|8|s1X1|4');

      expect(await holders()).toEqual(['a~s1:4', 'b~s1:1', 'c~s1:1', 'c~s1:2']);
      expect(await waiters()).toEqual(['c|3000|2|s1X2|4']);
      await cancel('b|3000|8|s1X1|4');
      expect(await holders()).toEqual(['a~s1:4', 'b~s1:1', 'c~s1:1', 'c~s1:2']);
    });

    it('ends with an instance that is dead', async () => {
      const subscriber = server.client();
      await subscriber.subscribe('lock:inbox:mortal');
      await listen('c');
      await share('a~s1', { ...PERMIT, wanted: 2 });
      await share('mortal~s1', { ...PERMIT, wanted: 3 });
      await share('c~s1', PERMIT);
      await release('a~s1:1');
      await subscriber.unsubscribe();
      await release('a~s1:2');

      expect(await holders()).toEqual(['c~s1:1', 'mortal~s1:1']);
      expect(await waiters()).toEqual([]);
    });

    it.each([
      ['the only hold', 1],
      ['one of two holds', 2],
    ])('ends with an instance that lets %s by hand-off expire: it may be frozen', async (_, limit) => {
      await Promise.all(['b', 'c'].map(listen));
      await share('a~s1', { limit, wanted: limit });
      await share('b~s1', { limit, wanted: 5, claimTtl: 50 });
      await share('c~s1', { limit });
      await release('a~s1:1');
      expect(await waiters()).toEqual([`b|50|4|s1X1|${limit}`, `c|3000|1|s1|${limit}`]);
      await waitFor(
        async () => (await share('d~s1', { limit }))[1] === 'shared' && (await waiters()).length === 1,
      );

      expect(await waiters()).toEqual([`d|3000|1|s1|${limit}`]);
      expect(await holders()).toContain('c~s1:1');
    });

    it.each([
      ['renewed', (): Promise<unknown> => run(extendScript, ['b~s1:1', 100], [LOCK, SHARED])],
      ['asked for', (): Promise<unknown> => share('b~s1', { ...PERMIT, wanted: 5, claimTtl: 50, ttl: 100 })],
    ])('stays with an instance that has %s its hold before it expired', async (_, confirm) => {
      await Promise.all(['b', 'c'].map(listen));
      await share('a~s1', { ...PERMIT, wanted: 2 });
      await share('b~s1', { ...PERMIT, wanted: 5, claimTtl: 50 });
      await share('c~s1', PERMIT);
      await release('a~s1:1');
      await confirm();
      await waitFor(async () => {
        await share('c~s1', PERMIT);
        return (await holders()).some((owner) => !['a~s1:2', 'b~s1:1'].includes(owner));
      });

      expect(await holders()).toEqual(['a~s1:2', 'b~s1X1:1']);
    });

    it('continues when the holders are released forcibly', async () => {
      await Promise.all(['a', 'b'].map(listen));
      await share('a~s1', { ...PERMIT, wanted: 2 });
      await share('b~s1', { ...PERMIT, wanted: 5 });
      await release('a~s1:1');
      await run(forceReleaseScript, [...PREFIXES, '']);

      expect(await holders()).toEqual(['b~s1X1:1', 'b~s1X1:2']);
      expect(await waiters()).toEqual([rest('b~s1X3', 2)]);
    });

    it('keeps its place although no message arrives, until one of its claim leases expires', async () => {
      const silent = '5 ';
      const ask = (turn: string, wanted: number): Promise<unknown> => {
        const [instance = '', tag] = turn.split('~');
        return run(acquireSharedScript, [
          instance,
          '',
          `0 ${silent}`,
          `10000 ${wanted} ${tag} 1 50|${wanted}`,
        ]);
      };
      await ask('a~s1', 1);
      await ask('b~s1', 3);
      await ask('c~s1', 1);
      await run(releaseSharedScript, [silent, 'a~s1:1']);
      expect(await ask('b~s1', 3)).toEqual([[expect.any(Number), '1/16']]);
      await run(releaseSharedScript, [silent, 'b~s1:1']);
      expect(await holders()).toEqual(['b~s1X1:1']);
      await waitFor(async () => {
        await ask('c~s1', 1);
        return (await holders()).some((owner) => owner !== 'b~s1X1:1');
      });

      expect(await holders()).toEqual(['c~s1:1']);
      expect(await waiters()).toEqual([]);
    });
  });
});
