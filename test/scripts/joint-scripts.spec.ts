import type { Redis } from 'ioredis';
import { acquireAllScript } from '../../lib/store/scripts/acquire-all.script.js';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { releaseAllScript } from '../../lib/store/scripts/release-all.script.js';
import type { RedisServer } from '../support/redis-server.js';
import { startEmptied } from './emptied-server.js';

const NAMES = ['a', 'b', 'c'];
const LOCKS = NAMES.map((name) => `lock:{${name}}`);
const KEYS = ['lock:fence', ...LOCKS, ...LOCKS.map((lock) => `${lock}:q`)];
const PREFIXES = '5 lock:inbox:';

describe('Scripts for several names', () => {
  let server: RedisServer;
  let client: Redis;
  startEmptied((...both) => ([server, client] = both));

  const run = (script: LuaScript, ...args: readonly (string | number)[]): Promise<unknown> =>
    client.eval(script.lua, KEYS.length, ...KEYS, ...args);
  const acquireAll = (tag = 'm1', { until = '', instance = 'p1', ttl = 10_000 } = {}): Promise<unknown> =>
    run(acquireAllScript, `${instance}~${tag}:`, until, PREFIXES, ttl);
  const releaseAll = (tag = 'm1', instance = 'p1'): Promise<unknown> =>
    run(releaseAllScript, `${instance}~${tag}:`, PREFIXES, NAMES.length);
  const owners = (): Promise<(string | null)[]> => client.mget(LOCKS);
  const keysLeft = async (): Promise<string[]> => (await client.keys('*')).toSorted();

  it('grant all under one owner id, with a token for each, and lease', async () => {
    const token = Number(await acquireAll());

    expect(await owners()).toEqual(NAMES.map(() => `p1~m1:${token}`));
    expect(Number(await client.get('lock:fence'))).toBe(token + 2);
    for (const name of NAMES) expect(await client.pttl(`lock:{${name}}`)).toBeGreaterThan(9_000);
  });

  it('grant the same to a repeated request, even after one of the names was released forcibly', async () => {
    const first = await acquireAll();
    await client.set('lock:{a}', 'p2:1');

    expect(await acquireAll()).toEqual(first);
    expect((await owners())[0]).toBe('p2:1');
  });

  it('grant all if scripts may not read the time', async () => {
    await client.call('ACL', 'SETUSER', 'timeless', 'on', '>secret', '~*', '&*', '+@all', '-time');
    const timeless = server.client({ username: 'timeless', password: 'secret' });
    const args = ['p1~m1:', '', PREFIXES, 10_000];

    const token = await timeless.eval(acquireAllScript.lua, KEYS.length, ...KEYS, ...args);
    expect(await owners()).toEqual(NAMES.map(() => `p1~m1:${Number(token)}`));
  });

  it('write nothing if one of the names is taken, and name its owner', async () => {
    await client.set('lock:{b}', 'p2:1', 'PX', 10_000);
    await client.set('lock:{c}', 'shared');

    expect(await acquireAll()).toEqual([
      expect.any(Number),
      [1, 'p2:1', expect.any(Number)],
      [2, 'shared', -1],
    ]);
    expect(await keysLeft()).toEqual(['lock:{b}', 'lock:{c}']);
  });

  it('write nothing if one of the names has a waiter, or its release was lost', async () => {
    await client.zadd('lock:{b}:q', 1, 'p2|3000|1');
    expect(await acquireAll()).toEqual([expect.any(Number)]);
    await client.del('lock:{b}:q');
    await client.set('lock:{c}', 'p1:1');
    expect(await acquireAll()).toEqual([expect.any(Number)]);

    expect(await keysLeft()).toEqual(['lock:{c}']);
  });

  it('grant nothing to a copy that comes late', async () => {
    expect(await acquireAll('m1', { until: '1' })).toBeLessThan(0);
    expect(await keysLeft()).toEqual([]);
  });

  it('release the grants under a tag once, and no others', async () => {
    await acquireAll();
    await client.set('lock:{a}', 'p2:1');

    expect(await releaseAll('m11')).toEqual([0, 0, 0]);
    expect(await releaseAll()).toEqual([0, 1, 1]);
    expect(await releaseAll()).toEqual([0, 0, 0]);
    expect(await keysLeft()).toEqual(['lock:fence', 'lock:{a}']);
  });

  it('delete all in one reply without waiters', async () => {
    await acquireAll();

    expect(await releaseAll()).toBe(NAMES.length);
    expect(await keysLeft()).toEqual(['lock:fence']);
  });

  it('hand on each name with a waiter, and free the others', async () => {
    await acquireAll();
    const listener = server.client();
    await listener.subscribe('lock:inbox:p2');
    await client.zadd('lock:{b}:q', 1, 'p2|3000|1');

    expect(await releaseAll()).toEqual([1, 1, 1]);
    expect(await owners()).toEqual([null, expect.stringMatching(/^p2:\d+$/), null]);
  });
});
