import type { Redis } from 'ioredis';
import { keepScript } from '../../lib/store/scripts/keep.script.js';
import { marksScript } from '../../lib/store/scripts/marks.script.js';
import { startEmptied } from './emptied-server.js';

const LOCK = 'lock:{n}';
const MARK = `${LOCK}:done`;

// test/conformance compares all else that the scripts do with the memory server.
describe('The scripts of results', () => {
  let client: Redis;
  startEmptied((_server, started) => (client = started));

  const keep = (owner: string, token: number, then: 'hold' | 'release', json = '1'): Promise<unknown> => {
    const keys = ['lock:fence', LOCK, `${LOCK}:q`, `${LOCK}:s`, MARK];
    return client.eval(keepScript.lua, 5, ...keys, owner, token, 10_000, json, '5 lock:inbox:', then);
  };

  it('release nothing when they are repeated, or when nothing is kept', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await keep('a:5', 5, 'release');
    await client.set(LOCK, 'b:6', 'PX', 10_000);

    expect(await keep('a:5', 5, 'release')).toBe(1);
    expect(await keep('b:6', 6, 'release')).toBe(0);
    expect(await client.get(LOCK)).toBe('b:6');
  });

  it('release the hold around a nested run, whose result is already kept', async () => {
    await client.set(LOCK, 'a:5', 'PX', 10_000);
    await keep('a:5', 5, 'hold', '"of the nested run"');

    expect(await keep('a:5', 5, 'release')).toBe(1);
    expect(await client.get(MARK)).toMatch(/"of the nested run"$/);
    expect(await client.exists(LOCK)).toBe(0);
  });

  it('read and delete several marks', async () => {
    await client.set(MARK, '1 2 3');
    const keys = [MARK, 'lock:{m}:done'];

    expect(await client.eval(marksScript.lua, 2, ...keys, 'GET')).toEqual(['1 2 3', null]);
    expect(await client.eval(marksScript.lua, 2, ...keys, 'DEL')).toBe(1);
    expect(await client.exists(MARK)).toBe(0);
  });
});
