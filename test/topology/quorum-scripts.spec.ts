import type { LuaScript } from '../../lib/scripts/lua-script.js';
import { quorumAcquireScript } from '../../lib/scripts/quorum-acquire.script.js';
import { quorumReleaseScript } from '../../lib/scripts/quorum-release.script.js';
import { quorumYieldScript } from '../../lib/scripts/quorum-yield.script.js';
import type { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';

const TTL = 20_000;
const CLAIM = 10_000;
const ACCEPTED = 1;
const TAKEN = 0;
const OUTDATED = 2;
const GONE = -1;

describe('one node of a quorum', () => {
  let server: RedisServer;
  let client: Redis;
  let listener: Redis;
  let heard: string[] = [];
  let tests = 0;
  let name: string;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = server.client();
    listener = server.client();
    listener.on('message', (channel: string, message: string) => heard.push(`${channel} ${message}`));
    await listener.subscribe('inbox:b', 'inbox:c');
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    name = `n${(tests += 1)}`;
    heard = [];
  });

  it('accepts a token beyond all that it has accepted, and no other', async () => {
    expect(await acquire('a', 100)).toBe(ACCEPTED);
    expect(await release('a', 100)).toBe(1);
    for (const token of [0, 99, 100]) expect(await acquire('b', token)).toBe(OUTDATED);
    expect(await acquire('b', 101)).toBe(ACCEPTED);
    expect(await owner()).toBe('b:101');
  });

  it('counts the whole block of a grant as accepted', async () => {
    expect(await acquire('a', 100, { last: 131 })).toBe(ACCEPTED);
    await release('a', 100);

    expect(await acquire('b', 131)).toBe(OUTDATED);
    expect(await acquire('b', 132)).toBe(ACCEPTED);
  });

  it('gives the same answer to a request that arrives twice', async () => {
    expect(await acquire('a', 100)).toBe(ACCEPTED);
    expect(await acquire('a', 100)).toBe(ACCEPTED);
    expect(await owner()).toBe('a:100');
  });

  it('refuses a request that arrives after the release of what it asks for', async () => {
    expect(await release('a', 100)).toBe(0);
    expect(await acquire('a', 100)).toBe(OUTDATED);
    expect(await owner()).toBeNull();
  });

  it('refuses a request that arrives after a later one of its instance', async () => {
    expect(await acquire('a', 200)).toBe(ACCEPTED);
    expect(await acquire('a', 100)).toBe(OUTDATED);
    expect(await release('a', 100)).toBe(0);
    expect(await owner()).toBe('a:200');
  });

  it('lets the next proposal of an instance replace its last', async () => {
    expect(await acquire('a', 100)).toBe(ACCEPTED);
    expect(await acquire('a', 200)).toBe(ACCEPTED);
    expect(await owner()).toBe('a:200');
  });

  it('excludes, and is excluded by, clients that do SET NX PX', async () => {
    expect(await acquire('a', 100)).toBe(ACCEPTED);
    expect(await client.set(`lock:{${name}}`, 'stranger', 'PX', TTL, 'NX')).toBeNull();
    await release('a', 100);
    expect(await client.set(`lock:{${name}}`, 'stranger', 'PX', TTL, 'NX')).toBe('OK');
    expect(await acquire('a', 200)).toBe(TAKEN);
    expect(await release('a', 200)).toBe(0);
    expect(await owner()).toBe('stranger');
  });

  it('reserves a released lock for the first that waits, tells it, and refuses everybody else', async () => {
    await acquire('a', 100);
    expect(await acquire('c', 300, { since: 2 })).toBe(TAKEN);
    expect(await acquire('b', 200, { since: 1 })).toBe(TAKEN);
    await release('a', 100);

    expect(await owner()).toBe('b:0');
    expect(await acquire('a', 400)).toBe(TAKEN);
    expect(await acquire('c', 400, { since: 2 })).toBe(TAKEN);
    expect(await acquire('b', 400, { since: 1 })).toBe(ACCEPTED);
    await listener.ping();
    expect(heard).toEqual([`inbox:b released 100 ${name}`]);
  });

  it('passes over an instance that does not listen any more', async () => {
    await acquire('a', 100);
    await acquire('gone', 200, { since: 1 });
    await acquire('b', 200, { since: 2 });
    await release('a', 100);

    expect(await owner()).toBe('b:0');
  });

  it('passes a reservation on when its instance leaves', async () => {
    await acquire('a', 100);
    await acquire('b', 200, { since: 1 });
    await acquire('c', 200, { since: 2 });
    await release('a', 100);
    await release('b', 0, { place: 'leave' });

    expect(await owner()).toBe('c:0');
  });

  it('gives back in silence what found no majority, and queues the instance', async () => {
    await acquire('a', 100);
    await acquire('b', 200, { since: 1 });
    await release('a', 100, { mode: 'quiet', place: 'a|0' });

    expect(await owner()).toBeNull();
    expect(await client.zrange(`lock:{${name}}:q`, '0', '-1')).toEqual(['a', 'b']);
  });

  it('keeps the lock at the end of a turn where nobody else waits, under a greater token', async () => {
    await acquire('a', 100);

    expect(await yieldTurn('a', 100, 150)).toBe(ACCEPTED);
    expect(await yieldTurn('a', 100, 150)).toBe(ACCEPTED);
    expect(await yieldTurn('a', 100, 180)).toBe(GONE);
    expect(await yieldTurn('a', 150, 149)).toBe(OUTDATED);
    expect(await owner()).toBe('a:150');
  });

  it('hands the lock over at the end of a turn where somebody waits, and queues the instance', async () => {
    await acquire('a', 100);
    await acquire('b', 200, { since: 1 });

    expect(await yieldTurn('a', 100, 150)).toBe(TAKEN);
    expect(await owner()).toBe('b:0');
    expect(await client.zrange(`lock:{${name}}:q`, '0', '-1')).toEqual(['a']);
  });

  it('leaves nothing behind for good', async () => {
    await acquire('a', 100);
    await acquire('b', 200, { since: 1 });
    for (const key of await client.keys(`lock:{${name}}*`)) {
      expect(await client.pttl(key)).toBeGreaterThan(0);
    }
    await release('a', 100);
    for (const key of await client.keys(`lock:{${name}}*`)) {
      expect(await client.pttl(key)).toBeGreaterThan(0);
    }
  });

  function owner(): Promise<string | null> {
    return client.get(`lock:{${name}}`);
  }

  async function acquire(
    instance: string,
    token: number,
    { last = token, since }: { last?: number; since?: number } = {},
  ): Promise<number> {
    const place = since === undefined ? '' : `${instance}|${since}`;
    const [outcome] = await run<[number]>(quorumAcquireScript, [instance, token, last, TTL, place, 600_000]);
    return outcome;
  }

  async function yieldTurn(instance: string, token: number, next: number): Promise<number> {
    const lease = [TTL, `${instance}|5`, 600_000];
    const args = [instance, token, next, next, ...lease, 'inbox:', CLAIM, name];
    const [outcome] = await run<[number]>(quorumYieldScript, args);
    return outcome;
  }

  function release(
    instance: string,
    token: number,
    { mode = 'wake', place = '' }: { mode?: 'wake' | 'quiet'; place?: string } = {},
  ): Promise<number> {
    return run<number>(quorumReleaseScript, [instance, token, mode, place, 'inbox:', CLAIM, name]);
  }

  async function run<T>({ lua }: LuaScript, args: readonly (string | number)[]): Promise<T> {
    const lock = `lock:{${name}}`;
    return (await client.eval(lua, 3, lock, `${lock}:q`, `${lock}:fence`, ...args)) as T;
  }
});
