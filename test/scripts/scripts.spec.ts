import type { Redis } from 'ioredis';
import { acquireScript } from '../../lib/store/scripts/acquire.script.js';
import { acquireSharedScript } from '../../lib/store/scripts/acquire-shared.script.js';
import { cancelScript } from '../../lib/store/scripts/cancel.script.js';
import { commandScript } from '../../lib/store/scripts/command.script.js';
import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { forceReleaseScript } from '../../lib/store/scripts/force-release.script.js';
import { keepScript } from '../../lib/store/scripts/keep.script.js';
import { marksScript } from '../../lib/store/scripts/marks.script.js';
import { transferScript } from '../../lib/store/scripts/transfer.script.js';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { queryScript } from '../../lib/store/scripts/query.script.js';
import { releaseScript } from '../../lib/store/scripts/release.script.js';
import { releaseByOwnerScript } from '../../lib/store/scripts/release-by-owner.script.js';
import { yieldScript } from '../../lib/store/scripts/yield.script.js';
import type { RedisServer } from '../support/redis-server.js';
import { startEmptied } from './emptied-server.js';
import { setClockBack } from '../support/set-clock-back.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from '../redis/instance.js';

const SCRIPTS = [
  acquireScript,
  acquireSharedScript,
  cancelScript,
  commandScript,
  extendScript,
  forceReleaseScript,
  keepScript,
  marksScript,
  transferScript,
  queryScript,
  releaseScript,
  releaseByOwnerScript,
  yieldScript,
];

/** What every script gets beside its own arguments: the prefix of channels, and the length of that of keys. */
const PREFIXES = '5 lock:inbox:';
/** The same as one word, for the scripts that most requests run. */
const BOTH = '5 lock:inbox:';

type Granted = readonly [token: number, tokens: number];
type Reply = number | Granted | readonly [remaining: number, owner: string, tokenFloor: number];

describe('Scripts', () => {
  let server: RedisServer;
  let client: Redis;
  startEmptied((...both) => ([server, client] = both));

  const keys = ['lock:fence', 'lock:{n}', 'lock:{n}:q'];
  const run = async (
    script: LuaScript,
    args: readonly (string | number)[],
    on: readonly string[] = keys,
  ): Promise<unknown> => client.eval(script.lua, on.length, ...on, ...args);
  const acquire = async (
    instance: string,
    { ttl = 10_000, tokens = 1, place = '3000|1', endedToken = 0 } = {},
  ): Promise<Granted> => {
    const args = [instance, '', `${endedToken} ${BOTH}`, `${ttl} ${tokens} ${place}`];
    const all = (await run(acquireScript, args)) as number | [Reply];
    const reply = typeof all === 'number' ? [all] : all;
    return typeof reply[0] === 'number' ? [reply[0], tokens] : (reply[0] as Granted);
  };
  const release = async (owner: string): Promise<unknown> => {
    const [instance = '', token = ''] = owner.split(':');
    const reply = (await run(releaseScript, [instance, BOTH, token])) as number | [number];
    return Array.isArray(reply) ? reply[0] : reply;
  };
  const listen = async (instance: string): Promise<string[]> => {
    const messages: string[] = [];
    const subscriber = server.client();
    subscriber.on('message', (_channel, message: string) => void messages.push(message));
    await subscriber.subscribe(`lock:inbox:${instance}`);
    return messages;
  };
  const waitForFirst = async (messages: readonly string[]): Promise<string> => {
    await waitFor(() => messages.length > 0);
    return messages[0] ?? '';
  };

  it.each([
    ...['acquire', 'release', 'extend', 'cancel', 'query', 'force-release', 'yield', 'transfer'],
    ...['acquire-shared', 'release-by-owner', 'extend-shared', 'transfer-shared'],
  ])(
    'are loaded again without a caller noticing when Redis has forgotten them before %s (NOSCRIPT)',
    async (call) => {
      await using first = await new Instance({ connection: server.url }).warmUp();
      await using second = await new Instance({ connection: server.url }).warmUp();
      const flushBefore = async (name: string): Promise<void> => {
        if (name === call) await client.script('FLUSH');
      };
      const lock = await first.locks.acquire('n');
      await flushBefore('extend');
      await lock.extend();
      const aborter = new AbortController();
      await flushBefore('acquire');
      const given = second.locks.acquire('n', { signal: aborter.signal }).catch(() => undefined);
      await waitFor(async () => (await first.locks.query('n')).pending.length === 1);
      await flushBefore('cancel');
      aborter.abort();
      await given;
      await waitFor(async () => (await first.locks.query('n')).pending.length === 0);
      const [next, behind] = [second.locks.acquire('n'), first.locks.acquire('n')];
      await waitFor(async () => (await first.locks.query('n')).pending.length === 1);
      await flushBefore('yield');
      await lock.release();
      await flushBefore('release');
      await (await next).release();
      await flushBefore('query');
      expect((await first.locks.query('n')).held).toHaveLength(1);
      await flushBefore('force-release');
      expect(await second.locks.forceRelease('n')).toBe(true);
      await (await behind).release();
      const leaving = await first.locks.acquire('n');
      await flushBefore('transfer');
      await (await second.locks.attach(await leaving.detach())).release();
      await flushBefore('acquire-shared');
      const [reader, goer] = await Promise.all(
        [1, 2].map(() => first.locks.acquire('n', { mode: 'shared' })),
      );
      await flushBefore('extend-shared');
      await reader?.extend();
      await flushBefore('transfer-shared');
      await (await second.locks.attach((await goer?.detach()) ?? '')).release();
      await flushBefore('release-by-owner');
      await reader?.release();

      expect([...first.logged, ...second.logged]).toEqual([]);
      await waitFor(async () => (await client.exists('lock:{n}', 'lock:{n}:q', 'lock:{n}:s')) === 0);
    },
  );

  it('work while Redis forgets them repeatedly', async () => {
    // A busy machine, on which Redis answers late, is no outage.
    const options = { connection: server.url, commandTimeout: 20_000, outageTimeout: 20_000 };
    await using first = await new Instance(options).warmUp();
    await using second = await new Instance(options).warmUp();
    const over = new AbortController();
    const flushing = (async () => {
      while (!over.signal.aborted) await client.script('FLUSH');
    })();
    let done = 0;
    await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        (i % 2 ? first : second).locks.using(`n:${i % 5}`, () => void (done += 1)),
      ),
    );
    over.abort();
    await flushing;

    expect(done).toBe(200);
    expect([...first.logged, ...second.logged]).toEqual([]);
  });

  it.each([
    ['behind the clock', '5'],
    ['ahead of the clock', '9000000000000000'],
  ])('hand off as many tokens as wanted with a counter that is %s', async (_where, last) => {
    const messages = await listen('b');
    const [token] = await acquire('a');
    await acquire('b', { place: '3000|4' });
    await client.set('lock:fence', last);
    await release(`a:${token}`);
    const first = Number(((await client.get('lock:{n}')) ?? '').split(':')[1]);
    const granted = Number((await waitForFirst(messages)).split(' ')[2]);

    expect(first).toBeGreaterThan(Number(last));
    expect(messages).toEqual([`granted ${first} ${granted} 3000 n`]);
    expect(Number(await client.get('lock:fence'))).toBe(first + granted - 1);
    expect(await client.pttl('lock:{n}')).toBeGreaterThan(2_000);
    expect(await client.exists('lock:{n}:q')).toBe(0);
  });

  it('hand off if scripts may not read the time', async () => {
    const messages = await listen('b');
    const [token] = await acquire('a');
    await acquire('b');
    await client.call('ACL', 'SETUSER', 'timeless', 'on', '>secret', '~*', '&*', '+@all', '-time');
    const timeless = server.client({ username: 'timeless', password: 'secret' });
    const args = ['a', BOTH, token];

    expect(await timeless.eval(releaseScript.lua, keys.length, ...keys, ...args)).toEqual([1]);
    expect(await waitForFirst(messages)).toMatch(/^granted/);
    expect(await client.get('lock:{n}')).toMatch(/^b:/);
  });

  it('leave a lock without expiry unchanged if scripts may not read the time', async () => {
    await client.set('lock:{n}', 'foreign');
    await client.call('ACL', 'SETUSER', 'timeless', 'on', '>secret', '~*', '&*', '+@all', '-time');
    const timeless = server.client({ username: 'timeless', password: 'secret' });
    const queried = ['lock:{n}', 'lock:{n}:q', 'lock:{n}:s'];
    const [[time, owner, left]] = (await timeless.eval(queryScript.lua, 3, ...queried)) as [unknown[]];

    expect([owner, left]).toEqual(['foreign', -1]);
    expect(Math.abs(Number(time) / 1_000 - Date.now())).toBeLessThan(10_000);
    expect(await client.get('lock:{n}')).toBe('foreign');
    expect(await client.pttl('lock:{n}')).toBe(-1);
  });

  it('hand off while Redis is full', async () => {
    const messages = await listen('b');
    const [token] = await acquire('a');
    await acquire('b');
    await client.config('SET', 'maxmemory', 1);
    try {
      expect(await release(`a:${token}`)).toBe(1);
    } finally {
      await client.config('SET', 'maxmemory', 0);
    }
    expect(await waitForFirst(messages)).toMatch(/^granted/);
    expect(await client.get('lock:{n}')).toMatch(/^b:/);
  });

  it('yield with a gap once: free the lock, queue the instance, and notify only the first waiter that is alive', async () => {
    const messages = [await listen('b'), await listen('c')];
    const [token] = await acquire('a');
    await client.zadd('lock:{n}:q', 1, 'gone|3000|1', 2, 'b|3000|1', 3, 'c|3000|1');
    const yielded = [`a:${token}`, PREFIXES, 'a|3000|1', 'gap', '40 120000'];

    expect(await run(yieldScript, yielded)).toBe(1);
    expect(await run(yieldScript, yielded)).toBeNull();
    for (const instance of ['b', 'c']) await client.publish(`lock:inbox:${instance}`, 'the end');
    await waitFor(() => messages.every((each) => each.includes('the end')));
    expect(messages).toEqual([['gap 40 120000 n', 'the end'], ['the end']]);
    expect(await client.exists('lock:{n}')).toBe(0);
    expect(await client.zrange('lock:{n}:q', '0', '-1')).toEqual([
      'gone|3000|1',
      'b|3000|1',
      'c|3000|1',
      'a|3000|1',
    ]);
  });

  it('pass on what Redis says of a command, and name the right that a user lacks to run it', async () => {
    const rights = ['on', '>secret', '~lock:*', '&lock:*', '+eval', '+publish'];
    await client.call('ACL', 'SETUSER', 'some', 'reset', ...rights);
    const some = client.duplicate({ username: 'some', password: 'secret', enableReadyCheck: false });
    const refusal = async (by: Redis, ...words: readonly string[]): Promise<string> =>
      by.eval(commandScript.lua, 1, 'lock:{}', ...words).then(String, ({ message }: Error) => message);
    const [strange, elsewhere, forbidden] = [
      await refusal(client, 'SCAN', 'x'),
      await refusal(some, 'PUBLISH', 'elsewhere', 'hello'),
      await refusal(some, 'SCAN', '0'),
    ];
    some.disconnect();

    expect(strange).toMatch(/^ERR invalid cursor/);
    expect(elsewhere).toMatch(/channel/);
    expect(elsewhere).not.toContain('+publish');
    expect(forbidden).toMatch(/^NOPERM SCAN takes the right \+scan: .* run /);
  });

  it('let the tokens grow when the counter is ahead of the clock, stale, or lost', async () => {
    const seconds = Number((await client.time())[0]);
    const tokens: number[] = [];
    const take = async (): Promise<void> => {
      const [token] = await acquire('a', { tokens: 100, endedToken: Number.MAX_SAFE_INTEGER });
      tokens.push(token);
    };
    await take();
    await client.set('lock:fence', String((seconds + 60) * 1_000_000));
    await take();
    await client.set('lock:fence', '1');
    await take();
    await client.del('lock:fence');
    await take();

    expect(tokens[1]).toBeGreaterThan(tokens[0] ?? Infinity);
    expect(tokens[1]).toBe((seconds + 60) * 1_000_000 + 1);
    expect(tokens[3]).toBeGreaterThan(tokens[2] ?? Infinity);
    expect(tokens[2]).toBeGreaterThan(tokens[0] ?? Infinity);
  });

  it('reserve blocks also after the clock was set back, without moving the counter further ahead', async () => {
    const hour = 3_600_000_000;
    const ahead = async (): Promise<number> => {
      const [seconds, micros] = (await client.time()).map(Number);
      return Number(await client.get('lock:fence')) - Number(seconds) * 1_000_000 - Number(micros);
    };
    await acquire('a');
    await client.incrby('lock:fence', hour);
    const [, block] = await acquire('a', { tokens: 512, endedToken: Number.MAX_SAFE_INTEGER });
    expect(block).toBe(512);
    const blocks: number[] = [];
    // More in all than there are microseconds meanwhile.
    for (let i = 0; i < 2_000; i++) {
      const [, tokens] = await acquire('a', { tokens: 4_096, endedToken: Number.MAX_SAFE_INTEGER });
      blocks.push(tokens);
    }

    expect(await ahead()).toBeLessThan(hour + 1_030_000);
    expect(Math.min(...blocks)).toBeLessThan(4_096);
  });

  it.each(['behind the clock', 'ahead of it'])(
    'write the counter once for all free names of a call, and give each its own tokens, with a counter that is %s',
    async (where) => {
      const hour = 3_600_000_000;
      await acquire('a');
      if (where === 'ahead of it') await client.incrby('lock:fence', hour);
      const names = Array.from({ length: 32 }, (_, i) => `lock:{several${i}}`);
      const on = ['lock:fence', ...names.flatMap((name) => [name, `${name}:q`])];
      const terms = names.map(() => '5000 8 3000|1');
      const before = Number(await client.get('lock:fence'));
      await server.resetCommandCounts();
      const replies = (await run(acquireScript, ['a', '', `0 ${BOTH}`, ...terms], on)) as (
        number | Granted
      )[];

      const { set = 0 } = await server.commandCounts();
      expect(set - names.length).toBe(1);
      const blocks = replies.map((reply) => {
        const [first, tokens] = typeof reply === 'number' ? [reply, 8] : reply;
        return { first, last: first + tokens - 1 };
      });
      for (const [i, { first }] of blocks.entries())
        expect(first).toBeGreaterThan(blocks[i - 1]?.last ?? before);
      const last = Number(await client.get('lock:fence'));
      expect(last).toBeGreaterThanOrEqual(blocks.at(-1)?.last ?? Infinity);
      await run(releaseScript, ['a', BOTH, ...blocks.map(({ first }) => first)], on);
      expect(await client.keys('lock:{several*')).toEqual([]);
    },
  );

  it('keep the counter beside a lock for ten minutes from when the clock is beyond it', async () => {
    const beside = ['lock:{n}:fence', 'lock:{n}', 'lock:{n}:q'];
    const take = (): Promise<unknown> =>
      run(acquireScript, ['a', '', `${Number.MAX_SAFE_INTEGER} ${BOTH}`, '10000 1 3000|1'], beside);
    await take();
    expect(await client.pttl('lock:{n}:fence')).toBeLessThanOrEqual(600_000);
    await client.incrby('lock:{n}:fence', 3_600_000_000);
    await take();

    expect(await client.pttl('lock:{n}:fence')).toBeGreaterThan(4_190_000);
  });

  it('queue an arrival behind waiters from before the clock was set back', async () => {
    await acquire('a');
    await acquire('b');
    await setClockBack(client, 3_600_000);
    await acquire('c');
    await acquire('b');

    expect(await client.zrange('lock:{n}:q', '0', '-1')).toEqual(['b|3000|1', 'c|3000|1']);
  });

  it('use the time of the server only: none receives the client’s time', async () => {
    const wrongClock = jest.spyOn(Date, 'now').mockReturnValue(0);
    await using instance = new Instance({ connection: server.url });
    const before = Number((await client.time())[0]) * 1_000_000;
    const { token, since } = await instance.locks.using('n', async (lock) => {
      const { held } = await instance.locks.query('n');
      return { token: lock.fencingToken, since: held[0]?.since?.getTime() ?? 0 };
    });
    wrongClock.mockRestore();

    expect(token).toBeGreaterThanOrEqual(before);
    expect(since).toBeGreaterThanOrEqual(before / 1_000);
  });

  /** Redis lets nobody touch a key that its user may not: this one may touch nothing but these. */
  const confined = async (own: readonly string[]): Promise<typeof run> => {
    const rights = ['reset', 'on', '>secret', '+@all', '&*', ...own.map((key) => `~${key}`)];
    await client.call('ACL', 'SETUSER', 'confined', ...rights);
    const user = server.client({ username: 'confined', password: 'secret' });
    return (script, args, on = own) => user.eval(script.lua, on.length, ...on, ...args);
  };

  it('touch declared keys only', async () => {
    const four = [...keys, 'lock:{n}:s'];
    const on = await confined(four);
    const [, lock = '', queue = '', shared = ''] = four;
    await listen('b');
    const ended = `a:${String(await on(acquireScript, ['a', '', `0 ${BOTH}`, '5000 1 3000|1']))}`;
    await on(yieldScript, [ended, PREFIXES, '', 'gap', '7 0']);
    const held = `a:${String(await on(acquireScript, ['a', '', `0 ${BOTH}`, '5000 1 3000|1']))}`;
    await on(acquireScript, ['b', '', `0 ${BOTH}`, '5000 1 3000|1']);
    await on(queryScript, [], [lock, queue, shared]);
    await on(extendScript, [held, 5_000], [lock, shared]);
    await on(extendScript, [held, 5_000, 'write'], [lock, shared]);
    await on(transferScript, [held, 'a~gone:1', 5_000], [lock, shared]);
    await on(transferScript, ['a~gone:1', held, 5_000], [lock, shared]);
    await on(yieldScript, [held, PREFIXES, 'a|3000|1', 5_000, 1]);
    await on(acquireSharedScript, ['b', '', `0 ${BOTH}`, '5000 2 s1 0 3000 ']);
    await on(cancelScript, ['a', 'a|3000|1', PREFIXES]);
    const [, owned = ''] = String(await client.get(lock)).split(':');
    await on(releaseScript, ['b', BOTH, owned]);
    expect(await client.zcard(shared)).toBe(2);
    await on(queryScript, [], [lock, queue, shared]);
    await on(acquireScript, ['a', '', `0 ${BOTH}`, '5000 1 3000|1']);
    const [owner = ''] = await client.zrange(shared, '0', '-1');
    await on(extendScript, [owner, 9_000], [lock, shared]);
    await on(extendScript, [owner, 9_000, 'write'], [lock, shared]);
    await on(transferScript, [owner, 'b~s1xf:1', 9_000], [lock, shared]);
    await on(releaseByOwnerScript, [BOTH, 'b~s1xf:1']);
    await on(cancelScript, ['a', 'a|3000|1', PREFIXES]);

    expect(await on(forceReleaseScript, [PREFIXES, 'lock:inbox:'])).toEqual([[expect.any(String)], []]);
    expect(await client.keys('*')).toEqual(['lock:fence']);
  });

  it.each([
    ['release', releaseScript, (token: number) => ['a', BOTH, token], [2]],
    [
      'yield',
      yieldScript,
      (token: number) => [`a:${token}`, PREFIXES, 'a|3000|1', 5_000, 1],
      [-2, 'shared', expect.any(Number)],
    ],
    [
      'acquire',
      acquireScript,
      (token: number) => ['a', '', `${token} ${BOTH}`, '5000 1 3000|1'],
      [[-2, 'shared', expect.any(Number)]],
    ],
  ] as const)(
    'only notify shared waiters to ask again if %s lacks the key of shared holders',
    async (_name, script, argsOf, reply) => {
      const on = await confined(keys);
      const messages = await listen('b');
      const [token] = await acquire('a');
      await run(acquireSharedScript, ['b', '', `0 ${BOTH}`, '5000 2 s1 0 3000 '], [...keys, 'lock:{n}:s']);

      expect(await on(script, argsOf(token))).toEqual(reply);
      await waitFor(() => messages.length === 1);
      expect(messages).toEqual(['released n']);
      expect(await client.exists('lock:{n}', 'lock:{n}:s')).toBe(0);
      expect((await client.zrange('lock:{n}:q', '0', '-1'))[0]).toBe('b|3000|2|s1');
    },
  );

  it.each(SCRIPTS)('document the keys, arguments, reply and cost of $name', async ({ name, lua }) => {
    const { readFile } = await import('node:fs/promises');
    const source = await readFile(`${__dirname}/../../lib/store/scripts/${name}.script.ts`, 'utf8');

    expect(source).toMatch(/\* KEYS /);
    expect(source.includes('* ARGV ')).toBe(lua.includes('ARGV'));
    expect(source).toMatch(/\* Reply /);
    expect(source).toMatch(/\* O\(/);
    // Anything else would be a key or a time that Redis does not know of.
    expect(lua).not.toMatch(
      /\bcall\('(?!(EXISTS|M?GET|SET|DEL|PTTL|PEXPIRE|PEXPIREAT|PEXPIRETIME|TIME|SCAN|Z(ADD|REM|POPMIN|RANGE|CARD|SCORE))')/,
    );
  });
});
