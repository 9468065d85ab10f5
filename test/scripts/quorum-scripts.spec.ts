import type { Redis } from 'ioredis';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { quorumAcquireScript } from '../../lib/store/scripts/quorum-acquire.script.js';
import { quorumReleaseScript } from '../../lib/store/scripts/quorum-release.script.js';
import { startEmptied } from './emptied-server.js';

const TTL = 20_000;
const LOCK = 'lock:{n}';
const QUEUE = `${LOCK}:q`;
const ACCEPTED = 1;
const TAKEN = 0;

// test/conformance compares all that instances do at a node with the node in memory.
describe('one node of a quorum', () => {
  let client: Redis;
  startEmptied((_server, started) => (client = started));

  const run = async <T>({ lua }: LuaScript, args: readonly (string | number)[]): Promise<T> => {
    const [reply] = (await client.eval(lua, 3, LOCK, QUEUE, `${LOCK}:fence`, args.length, ...args)) as [T];
    return reply;
  };
  /** Waits in the queue since a time in microseconds, if it has one and the lock is taken. */
  const acquire = async (instance: string, token: number, since?: number): Promise<number> => {
    const place = since === undefined ? '' : `${instance}|${since}`;
    const [outcome] = await run<[number]>(quorumAcquireScript, [instance, token, token, TTL, place, 600_000]);
    return outcome;
  };
  const end = (owner: string, token: number, mode: 'wake' | 'revoke'): Promise<number> =>
    run(quorumReleaseScript, [owner, token, mode, '', 'lock:inbox:', TTL, 'n']);
  const queue = (): Promise<string[]> => client.zrange(QUEUE, '0', '-1');
  /** Its time in microseconds. */
  const time = async (): Promise<number> => {
    const [seconds, micros] = await client.time();
    return Number(seconds) * 1_000_000 + Number(micros);
  };

  it('excludes, and is excluded by, clients that do SET NX PX', async () => {
    expect(await acquire('a', 100)).toBe(ACCEPTED);
    expect(await client.set(LOCK, 'stranger', 'PX', TTL, 'NX')).toBeNull();
    await end('a', 100, 'wake');
    expect(await client.set(LOCK, 'stranger', 'PX', TTL, 'NX')).toBe('OK');
    expect(await acquire('a', 200)).toBe(TAKEN);
    expect(await end('a', 200, 'wake')).toBe(0);
    expect(await client.get(LOCK)).toBe('stranger');
  });

  it('ends the hold of another package forcibly, and accepts tokens as before', async () => {
    for (const foreign of ['stranger', 'b:99999999999999999999']) {
      await client.set(LOCK, foreign, 'PX', TTL);
      expect(await end(foreign, 0, 'revoke')).toBe(1);
      expect(await client.get(LOCK)).toBeNull();
    }
    expect(await acquire('a', 100)).toBe(ACCEPTED);
  });

  it('queues arrivals after its clock was set back behind the waiters, and keeps each place', async () => {
    const now = await time();
    const before = now + 3_600_000_000;
    await acquire('a', now);
    await acquire('c', now, before);
    await acquire('b', now, now);
    await acquire('d', now, now - 1_000);
    expect(await queue()).toEqual(['c', 'b', 'd']);
    await acquire('b', now, now);
    await acquire('c', now, before);

    expect(await queue()).toEqual(['c', 'b', 'd']);
  });
});
