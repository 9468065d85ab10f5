import type { Redis } from 'ioredis';
import { keepScript } from '../../lib/store/scripts/keep.script.js';
import { marksScript } from '../../lib/store/scripts/marks.script.js';
import type { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { startEmptied } from './emptied-server.js';

const LOCK = 'lock:{n}';
const QUEUE = `${LOCK}:q`;
const MARK = `${LOCK}:done`;

describe('The scripts of results', () => {
  let server: RedisServer;
  let client: Redis;
  startEmptied((...both) => ([server, client] = both));

  const keep = (owner: string, token: number, json = '1', user = client, then = 'hold'): Promise<unknown> => {
    const keys = ['lock:fence', LOCK, QUEUE, `${LOCK}:s`, MARK];
    return user.eval(keepScript.lua, 5, ...keys, owner, token, 10_000, json, 'lock:inbox:', 5, then);
  };
  const keepAndRelease = (owner: string, token: number): Promise<unknown> =>
    keep(owner, token, '1', client, 'release');
  const listen = async (...instances: string[]): Promise<string[]> => {
    const messages: string[] = [];
    const subscriber = server.client();
    subscriber.on('message', (channel: string, message: string) => messages.push(`${channel} ${message}`));
    await subscriber.subscribe(...instances.map((instance) => `lock:inbox:${instance}`));
    return messages;
  };

  it('keep a result with its time and token, and leave the lock of a hold that continues and its queue alone', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await client.zadd(QUEUE, 1, 'b|3000|1');

    expect(await keep('a:5', 5, '{"x":"a b"}')).toBe(1);
    expect(await client.get(MARK)).toMatch(/^\d{13} 5 \{"x":"a b"\}$/);
    expect(await client.pttl(MARK)).toBeGreaterThan(9_000);
    expect(await client.get(LOCK)).toBe('a:5');
    expect(await client.zrange(QUEUE, '0', '-1')).toEqual(['b|3000|1']);
  });

  it.each([
    ['another owner', 'b:6'],
    ['shared holders', 'shared'],
    ['nobody', undefined],
  ])('keep nothing for an owner when the lock is held by %s', async (_who, owner) => {
    if (owner !== undefined) await client.set(LOCK, owner, 'PX', 10_000);
    const messages = await listen('b');
    await client.zadd(QUEUE, 1, 'b|3000|1');

    expect(await keep('a:5', 5)).toBe(0);
    expect(await client.exists(MARK)).toBe(0);
    await client.publish('lock:inbox:b', 'the end');
    await waitFor(() => messages.length > 0);
    expect(messages).toEqual(['lock:inbox:b the end']);
  });

  it('keep once: a repeated request finds its own mark, also when the lock has gone to another owner', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await keep('a:5', 5, '"first"');
    const mark = await client.get(MARK);
    await client.set(LOCK, 'b:6', 'PX', 10_000);

    expect(await keep('a:5', 5, '"first"')).toBe(1);
    expect(await client.get(MARK)).toBe(mark);
  });

  it('keep nothing over the mark of another run, also below the same owner id', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await keep('a:5', 5, '"first"');

    expect(await keep('a:5', 6, '"second"')).toBe(0);
    expect(await client.get(MARK)).toMatch(/"first"$/);
  });

  it('notify each waiting instance once, whatever it waits for', async () => {
    const messages = await listen('b', 'c');
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await client.zadd(QUEUE, 1, 'b|3000|1', 2, 'c|3000|2|s1', 3, 'b|3000|2|s4', 4, 'gone|3000|1');
    await keep('a:5', 5);

    await waitFor(() => messages.length === 2);
    expect(messages).toEqual(['lock:inbox:b done n', 'lock:inbox:c done n']);
  });

  it('notify the waiting instances, and then hand the lock to the first one in the same step', async () => {
    const messages = await listen('b', 'c');
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await client.zadd(QUEUE, 1, 'b|3000|1', 2, 'c|3000|1');

    expect(await keepAndRelease('a:5', 5)).toBe(1);
    await waitFor(() => messages.length === 3);
    expect(messages).toEqual([
      'lock:inbox:b done n',
      'lock:inbox:c done n',
      expect.stringMatching(/^lock:inbox:b granted \d+ 1 3000 n$/),
    ]);
    expect(await client.get(LOCK)).toMatch(/^b:\d+$/);
    expect(await client.zrange(QUEUE, '0', '-1')).toEqual(['c|3000|1']);
  });

  it('free the lock if no instance waits, or no waiting one is alive', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    expect(await keepAndRelease('a:5', 5)).toBe(1);
    expect(await client.exists(LOCK)).toBe(0);

    await client.del(MARK);
    await client.set(LOCK, 'a:6', 'PX', 10_000);
    await client.zadd(QUEUE, 1, 'gone|3000|1');
    expect(await keepAndRelease('a:6', 6)).toBe(1);
    expect(await client.exists(LOCK)).toBe(0);
  });

  it('release nothing when they are repeated, or when nothing is kept', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await keepAndRelease('a:5', 5);
    await client.set(LOCK, 'b:6', 'PX', 10_000);

    expect(await keepAndRelease('a:5', 5)).toBe(1);
    expect(await keepAndRelease('b:6', 6)).toBe(0);
    expect(await client.get(LOCK)).toBe('b:6');
  });

  it('release the hold around a nested run, whose result is already kept', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await keep('a:5', 5, '"of the nested run"');

    expect(await keepAndRelease('a:5', 5)).toBe(1);
    expect(await client.get(MARK)).toMatch(/"of the nested run"$/);
    expect(await client.exists(LOCK)).toBe(0);
  });

  it('keep a result if scripts may not read the time', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await client.call('ACL', 'SETUSER', 'timeless', 'on', '>secret', '~*', '&*', '+@all', '-time');
    const timeless = server.client({ username: 'timeless', password: 'secret' });

    expect(await keep('a:5', 5, '1', timeless)).toBe(1);
    const [at] = ((await client.get(MARK)) ?? '').split(' ');
    expect(Math.abs(Number(at) - Date.now())).toBeLessThan(10_000);
    expect(await client.pttl(LOCK)).toBeGreaterThan(0);
  });

  it('read and delete several marks', async () => {
    await client.set(MARK, '1 2 3');
    const keys = [MARK, 'lock:{m}:done'];

    expect(await client.eval(marksScript.lua, 2, ...keys, 'GET')).toEqual(['1 2 3', null]);
    expect(await client.eval(marksScript.lua, 2, ...keys, 'DEL')).toBe(1);
    expect(await client.exists(MARK)).toBe(0);
  });
});
