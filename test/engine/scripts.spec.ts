import type { Redis } from 'ioredis';
import { acquireScript } from '../../lib/scripts/acquire.script.js';
import { acquireSharedScript } from '../../lib/scripts/acquire-shared.script.js';
import { cancelScript } from '../../lib/scripts/cancel.script.js';
import { extendScript } from '../../lib/scripts/extend.script.js';
import { extendSharedScript } from '../../lib/scripts/extend-shared.script.js';
import { forceReleaseScript } from '../../lib/scripts/force-release.script.js';
import { handOverScript } from '../../lib/scripts/hand-over.script.js';
import { handOverSharedScript } from '../../lib/scripts/hand-over-shared.script.js';
import type { LuaScript } from '../../lib/scripts/lua-script.js';
import { queryScript } from '../../lib/scripts/query.script.js';
import { releaseScript } from '../../lib/scripts/release.script.js';
import { releaseSharedScript } from '../../lib/scripts/release-shared.script.js';
import { replicateScript } from '../../lib/scripts/replicate.script.js';
import { yieldScript } from '../../lib/scripts/yield.script.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

const SCRIPTS = [
  acquireScript,
  acquireSharedScript,
  cancelScript,
  extendScript,
  extendSharedScript,
  forceReleaseScript,
  handOverScript,
  handOverSharedScript,
  queryScript,
  releaseScript,
  releaseSharedScript,
  replicateScript,
  yieldScript,
];

/** What every script gets beside its own arguments: the prefix of channels, and the length of that of keys. */
const PREFIXES = ['lock:inbox:', 'lock:'.length] as const;

type Granted = readonly [token: number, tokens: number];
type Reply = number | Granted | readonly [remaining: number, owner: string, mark: number];

describe('Scripts', () => {
  let server: RedisServer;
  let client: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = server.client();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await client.flushall();
  });

  const keys = ['lock:fence', 'lock:{n}', 'lock:{n}:q'];
  const run = async (
    script: LuaScript,
    args: readonly (string | number)[],
    on: readonly string[] = keys,
  ): Promise<unknown> => client.eval(script.lua, on.length, ...on, ...args);
  const acquire = async (
    instance: string,
    { ttl = 10_000, tokens = 1, place = '3000|1', spent = 0 } = {},
  ): Promise<Granted> => {
    const args = [instance, spent, ...PREFIXES, `${ttl} ${tokens} ${place}`];
    const [reply] = (await run(acquireScript, args)) as [Reply];
    return typeof reply === 'number' ? [reply, tokens] : (reply as Granted);
  };
  const release = async (owner: string): Promise<unknown> => {
    const [reply] = (await run(releaseScript, [
      owner.split(':')[0] ?? '',
      ...PREFIXES,
      owner.split(':')[1] ?? '',
    ])) as [number];
    return reply;
  };
  const listen = async (instance: string): Promise<string[]> => {
    const messages: string[] = [];
    const subscriber = server.client();
    subscriber.on('message', (_channel, message: string) => void messages.push(message));
    await subscriber.subscribe(`lock:inbox:${instance}`);
    return messages;
  };

  it.each([
    ...['acquire', 'release', 'extend', 'cancel', 'query', 'force-release', 'yield', 'hand-over'],
    ...['acquire-shared', 'release-shared', 'extend-shared', 'hand-over-shared'],
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
      await flushBefore('hand-over');
      await (await second.locks.attach(await leaving.detach())).release();
      await flushBefore('acquire-shared');
      const [reader, goer] = await Promise.all(
        [1, 2].map(() => first.locks.acquire('n', { mode: 'shared' })),
      );
      await flushBefore('extend-shared');
      await reader?.extend();
      await flushBefore('hand-over-shared');
      await (await second.locks.attach((await goer?.detach()) ?? '')).release();
      await flushBefore('release-shared');
      await reader?.release();

      expect([...first.logged, ...second.logged]).toEqual([]);
      await waitFor(async () => (await client.exists('lock:{n}', 'lock:{n}:q', 'lock:{n}:s')) === 0);
    },
  );

  it('work while Redis forgets them all the time', async () => {
    await using first = await new Instance({ connection: server.url }).warmUp();
    await using second = await new Instance({ connection: server.url }).warmUp();
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

  it('give the same grant twice when the same request comes twice', async () => {
    const [token] = await acquire('a');

    expect(await acquire('a')).toEqual([token, 1]);
    expect(await client.get('lock:{n}')).toBe(`a:${token}`);
  });

  it('give a fresh grant where the hold that is found has ended here', async () => {
    const [token] = await acquire('a');
    const [next, tokens] = await acquire('a', { spent: token });

    expect(tokens).toBe(1);
    expect(next).toBeGreaterThan(token);
  });

  it('keep the place of an instance that asks again', async () => {
    await acquire('a');
    await acquire('b');
    await acquire('c');
    const before = await client.zrange('lock:{n}:q', '0', '-1', 'WITHSCORES');
    await acquire('b');
    await acquire('b');

    expect(await client.zrange('lock:{n}:q', '0', '-1', 'WITHSCORES')).toEqual(before);
    expect(before.filter((_, i) => i % 2 === 0)).toEqual(['b|3000|1', 'c|3000|1']);
  });

  it('release once: a second release touches nobody', async () => {
    const [token] = await acquire('a');
    expect(await release(`a:${token}`)).toBe(1);
    await acquire('b');

    expect(await release(`a:${token}`)).toBe(0);
    expect(await client.get('lock:{n}')).toMatch(/^b:/);
  });

  it('hand over once: a release that is sent twice grants a single waiter', async () => {
    const messages = await Promise.all([listen('b'), listen('c')]);
    const [token] = await acquire('a');
    await acquire('b');
    await acquire('c');
    await release(`a:${token}`);
    await release(`a:${token}`);

    expect(await client.get('lock:{n}')).toMatch(/^b:/);
    await waitFor(() => messages[0].length === 1);
    expect(messages).toEqual([[expect.stringMatching(/^granted \d+ 1 3000 n$/)], []]);
  });

  it('yield once: a yield that is sent twice hands over once and says then that the lock is gone', async () => {
    await listen('b');
    const [token] = await acquire('a');
    await acquire('b');
    const yielded = [`a:${token}`, ...PREFIXES, 10_000, 5, 'a|3000|5'];

    expect(await run(yieldScript, yielded)).toEqual([
      expect.any(Number),
      expect.stringMatching(/^b:/),
      expect.any(Number),
    ]);
    expect(await run(yieldScript, yielded)).toBeNull();
    expect(await client.zrange('lock:{n}:q', '0', '-1')).toEqual(['a|3000|5']);
  });

  it('hand a lock over once, to one of those who ask for it, and say so again when they are asked again', async () => {
    const [token] = await acquire('a', { ttl: 5_000 });
    const change = (from: string, to: string, ttl: number): Promise<unknown> =>
      run(handOverScript, [from, to, ttl], ['lock:{n}']);

    expect(await change(`a:${token}`, `a~gone:${token}`, 20_000)).toBe(1);
    expect(await client.pttl('lock:{n}')).toBeGreaterThan(19_000);
    expect(await change(`a~gone:${token}`, `b~taken:${token}`, 10_000)).toBe(1);
    expect(await change(`a~gone:${token}`, `c~taken:${token}`, 30_000)).toBe(0);
    // The same request, from a connection that was given up: it must not lengthen what was shortened since.
    expect(await change(`a~gone:${token}`, `b~taken:${token}`, 30_000)).toBe(1);
    expect(await change(`a:${token}`, `a~gone:${token}`, 30_000)).toBe(0);
    expect(await client.get('lock:{n}')).toBe(`b~taken:${token}`);
    expect(await client.pttl('lock:{n}')).toBeLessThanOrEqual(10_000);
  });

  it('bring nothing back that is to be handed over and is gone', async () => {
    expect(await run(handOverScript, ['a:1', 'b~taken:1', 9_000], ['lock:{n}'])).toBe(0);
    expect(await client.exists('lock:{n}')).toBe(0);
  });

  it('take a lock that is handed over neither for a grant of the instance, nor for one to be given back', async () => {
    const [token] = await acquire('a');
    await run(handOverScript, [`a:${token}`, `a~gone:${token}`, 5_000], ['lock:{n}']);

    expect(await run(acquireScript, ['a', 0, ...PREFIXES, '5000 1 3000|1'])).toEqual([
      [expect.any(Number), `a~gone:${token}`, expect.any(Number)],
    ]);
    expect(await run(cancelScript, ['a', 'a|3000|1', ...PREFIXES], [...keys, 'lock:{n}:s'])).toBeNull();
    expect(await release(`a:${token}`)).toBe(0);
    expect(await client.get('lock:{n}')).toBe(`a~gone:${token}`);
  });

  it('extend nothing that is not the owner’s, and bring nothing back', async () => {
    const [token] = await acquire('a', { ttl: 5_000 });
    const other = ['lock:{gone}', 'lock:{n}'];

    expect(await run(extendScript, ['a:1', 9_000, 'b:2', 9_000], other)).toEqual([0, 0]);
    expect(await client.exists('lock:{gone}')).toBe(0);
    expect(await client.pttl('lock:{n}')).toBeLessThanOrEqual(5_000);
    expect(await run(extendScript, [`a:${token}`, 9_000], ['lock:{n}'])).toEqual([1]);
    expect(await client.pttl('lock:{n}')).toBeGreaterThan(8_000);
  });

  it('skip waiters that are gone, and forget them', async () => {
    await listen('c');
    const [token] = await acquire('a');
    await acquire('gone');
    await acquire('c');
    await release(`a:${token}`);

    expect(await client.get('lock:{n}')).toMatch(/^c:/);
    expect(await client.exists('lock:{n}:q')).toBe(0);
  });

  it('grant for the claim lease that the waiter asked for', async () => {
    await listen('b');
    const [token] = await acquire('a', { ttl: 60_000 });
    await acquire('b', { ttl: 60_000, place: '1200|1' });
    await release(`a:${token}`);

    expect(await client.pttl('lock:{n}')).toBeLessThanOrEqual(1_200);
  });

  it('let the tokens grow when the counter is ahead of the clock, stale, or lost', async () => {
    const seconds = Number((await client.time())[0]);
    const tokens: number[] = [];
    const take = async (): Promise<void> => {
      const [token] = await acquire('a', { tokens: 100, spent: Number.MAX_SAFE_INTEGER });
      tokens.push(token);
    };
    await take();
    await client.set('lock:fence', String((seconds + 60) * 1_000_000));
    await take();
    const [, block] = await acquire('a', { tokens: 100, spent: Number.MAX_SAFE_INTEGER });
    expect(block).toBe(1);
    await client.set('lock:fence', '1');
    await take();
    await client.del('lock:fence');
    await take();

    expect(tokens[1]).toBeGreaterThan(tokens[0] ?? Infinity);
    expect(tokens[1]).toBe((seconds + 60) * 1_000_000 + 1);
    expect(tokens[3]).toBeGreaterThan(tokens[2] ?? Infinity);
    expect(tokens[2]).toBeGreaterThan(tokens[0] ?? Infinity);
  });

  it('reserve as many tokens as were asked for: no later one is among them', async () => {
    const [first, block] = await acquire('a', { tokens: 4_096 });
    const [second] = await acquire('a', { spent: first });

    expect(block).toBe(4_096);
    expect(second).toBeGreaterThanOrEqual(first + 4_096);
  });

  it('use the time of the server only: none of them is told what time the client has', async () => {
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
    const [token] = (await on(acquireScript, ['a', 0, ...PREFIXES, '5000 1 3000|1'])) as [number];
    await on(acquireScript, ['b', 0, ...PREFIXES, '5000 1 3000|1']);
    await on(queryScript, [], [lock, queue, shared]);
    await on(extendScript, [`a:${token}`, 5_000], [lock]);
    await on(replicateScript, [`a:${token}`, 5_000], [lock, shared]);
    await on(handOverScript, [`a:${token}`, `a~gone:${token}`, 5_000], [lock]);
    await on(handOverScript, [`a~gone:${token}`, `a:${token}`, 5_000], [lock]);
    await on(yieldScript, [`a:${token}`, ...PREFIXES, 5_000, 1, 'a|3000|1']);
    await on(acquireSharedScript, ['b', 0, ...PREFIXES, '5000 2 s1  3000|2']);
    await on(cancelScript, ['a', 'a|3000|1', ...PREFIXES]);
    const [, owned = ''] = String(await client.get(lock)).split(':');
    await on(releaseScript, ['b', ...PREFIXES, owned]);
    expect(await client.zcard(shared)).toBe(2);
    await on(queryScript, [], [lock, queue, shared]);
    await on(acquireScript, ['a', 0, ...PREFIXES, '5000 1 3000|1']);
    await on(extendSharedScript, ['b~s1:1', 9_000], [lock, shared]);
    await on(replicateScript, ['b~s1:1', 9_000], [lock, shared]);
    await on(handOverSharedScript, ['b~s1:1', 'b~sgone:1', 9_000], [lock, shared]);
    await on(releaseSharedScript, [...PREFIXES, 'b~sgone:1']);
    await on(cancelScript, ['a', 'a|3000|1', ...PREFIXES]);

    expect(await on(forceReleaseScript, [...PREFIXES, 'lock:inbox:'])).toBe(1);
    expect(await client.keys('*')).toEqual(['lock:fence']);
  });

  it.each([
    ['release', releaseScript, (token: number) => ['a', ...PREFIXES, token], [2]],
    [
      'yield',
      yieldScript,
      (token: number) => [`a:${token}`, ...PREFIXES, 5_000, 1, 'a|3000|1'],
      [-2, 'shared', expect.any(Number)],
    ],
    [
      'acquire',
      acquireScript,
      (token: number) => ['a', token, ...PREFIXES, '5000 1 3000|1'],
      [[-2, 'shared', expect.any(Number)]],
    ],
  ] as const)(
    'only tell who waits for a shared hold to ask, where %s is not given the key of those',
    async (_name, script, argsOf, reply) => {
      const on = await confined(keys);
      const messages = await listen('b');
      const [token] = await acquire('a');
      await run(acquireSharedScript, ['b', 0, ...PREFIXES, '5000 2 s1  3000|2'], [...keys, 'lock:{n}:s']);

      expect(await on(script, argsOf(token))).toEqual(reply);
      await waitFor(() => messages.length === 1);
      expect(messages).toEqual(['released n']);
      expect(await client.exists('lock:{n}', 'lock:{n}:s')).toBe(0);
      expect((await client.zrange('lock:{n}:q', '0', '-1'))[0]).toBe('b|3000|2|s1|');
    },
  );

  it.each(SCRIPTS)('say in a header what $name needs, answers and costs', async ({ name, lua }) => {
    const { readFile } = await import('node:fs/promises');
    const source = await readFile(`${__dirname}/../../lib/scripts/${name}.script.ts`, 'utf8');

    expect(source).toMatch(/\* KEYS /);
    expect(source.includes('* ARGV ')).toBe(lua.includes('ARGV'));
    expect(source).toMatch(/\* Reply /);
    expect(source).toMatch(/\* O\(/);
    // Anything else would be a key or a time that Redis does not know of.
    expect(lua).not.toMatch(
      /redis\.call\('(?!EXISTS|GET|SET|DEL|PTTL|PEXPIRE|PEXPIREAT|TIME|PUBLISH|Z(ADD|REM|POPMIN|RANGE|REMRANGEBYSCORE|CARD|SCORE))'/,
    );
  });
});
