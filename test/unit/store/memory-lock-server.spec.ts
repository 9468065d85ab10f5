import { MemoryLockServer } from '../../../lib/store/memory/memory-lock-server.js';
import type { AcquireRequest } from '../../../lib/store/lock-store.js';
import { type Grant, isGrant } from '../../../lib/store/grant.js';
import { NO_EVENTS } from '../../support/no-events.js';

const NAME = 'n';
const CLAIM = 50;

describe('A list of the memory server', () => {
  it('has only names with holders', () => {
    let now = 1_000;
    const server = new MemoryLockServer(() => now);
    const request = { tokens: 1, place: undefined, endedToken: 0 };
    for (const [i, name] of ['n:1', 'n:2', 'other'].entries())
      server.acquire('a', { ...request, name, ttl: 100 * (i + 1) });
    now += 100;

    expect(server.list('n:').map(({ held }) => held[0]?.name)).toEqual(['n:2']);
  });
});

describe('A turn in memory', () => {
  let now: number;
  let server: MemoryLockServer;
  beforeEach(() => {
    now = 1_000;
    server = new MemoryLockServer(() => now);
  });

  const listen = (instance: string): Grant[] => {
    const grants: Grant[] = [];
    server.inboxes.open(instance, { ...NO_EVENTS, granted: (_, grant) => void grants.push(grant) });
    return grants;
  };
  const place = (instance: string, wanted: number, turn = 's1', limit = 1): string =>
    `${instance}|${CLAIM}|${wanted}|${turn}|${limit}`;
  /** Asks for so many holds of which one at a time may be had. */
  const share = (instance: string, wanted: number, terms: Partial<AcquireRequest> = {}): number => {
    const reply = server.acquire(instance, {
      name: NAME,
      ttl: 100,
      tokens: wanted,
      shared: { limit: 1, turn: 's1' },
      place: place(instance, wanted),
      endedToken: 0,
      ...terms,
    });
    return isGrant(reply) ? reply.tokens : 0;
  };
  /** Requests one of two holds. */
  const shareTwo = (instance: string, ttl = 100): number =>
    share(instance, 1, { ttl, shared: { limit: 2, turn: 's1' }, place: place(instance, 1, 's1', 2) });
  const holders = (): string[] => server.query(NAME).held.map(({ owner }) => owner);
  const waiters = (): string[] => server.query(NAME).pending.map(({ owner }) => owner);

  it('has the same holds when its request arrives twice', () => {
    expect([share('a', 1), share('a', 1)]).toEqual([1, 1]);
    expect(holders()).toEqual(['a~s1:1']);
  });

  it.each(['a release', 'a request'])('is admitted with the next one by %s after an exclusive hold', (by) => {
    for (const instance of ['b', 'c']) listen(instance);
    const alone = { name: NAME, ttl: 100, tokens: 1, place: undefined, endedToken: 0 };
    const hold = server.acquire('a', alone);
    shareTwo('b');
    shareTwo('c');
    if (by === 'a release' && isGrant(hold)) server.release(NAME, hold.owner);
    else {
      now += 100;
      shareTwo('b');
    }

    expect(holders().toSorted()).toEqual(['b~s1:1', 'c~s1:1']);
  });

  it('is admitted by a late release of a hold whose lease has expired', () => {
    listen('c');
    shareTwo('a');
    shareTwo('b', 300);
    shareTwo('c');
    now += 100;
    server.release(NAME, 'a~s1:1');

    expect(holders().toSorted()).toEqual(['b~s1:1', 'c~s1:1']);
  });

  it('is not admitted beside an exclusive hold when a waiter before it leaves', () => {
    for (const instance of ['b', 'c']) listen(instance);
    server.acquire('a', { name: NAME, ttl: 100, tokens: 1, place: undefined, endedToken: 0 });
    share('b', 1);
    share('c', 1);
    server.cancel('b', NAME, place('b', 1));

    expect([holders().length, waiters()]).toEqual([1, ['c']]);
  });

  it('leaves without the holds of other turns and other instances', () => {
    const terms = (turn: string): Partial<AcquireRequest> => ({
      shared: { limit: 2, turn },
      place: place('a', 1, turn, 2),
    });
    shareTwo('a');
    shareTwo('b');
    share('a', 1, terms('s2'));
    server.cancel('a', NAME, place('a', 1, 's2', 2));
    server.cancel('c', NAME, place('c', 1, 's1', 2));

    expect(holders().toSorted()).toEqual(['a~s1:1', 'b~s1:1']);
  });

  it('waits again when its claim lease has expired and its request is repeated', () => {
    listen('b');
    share('a', 1);
    share('b', 1);
    server.release(NAME, 'a~s1:1');
    now += CLAIM;
    const grant = server.acquire('a', { name: NAME, ttl: 100, tokens: 1, place: undefined, endedToken: 0 });
    share('b', 1);
    expect(waiters()).toEqual(['b']);
    server.release(NAME, grant.owner ?? '');

    expect([holders(), waiters()]).toEqual([['b~s1:1'], []]);
  });

  describe('with a limit and a rest', () => {
    it('keeps its place when its instance finds a permit free', () => {
      for (const instance of ['a', 'b', 'c']) listen(instance);
      share('a', 1);
      share('b', 3);
      share('c', 1);
      now += 100;

      expect(share('b', 3)).toBe(1);
      expect(waiters()).toEqual(['b', 'c']);
      server.release(NAME, 'b~s1:1');
      expect(holders()).toEqual(['b~s1X1:1']);
    });

    it('leaves with its turn, and with nothing that was granted before', () => {
      for (const instance of ['a', 'b']) listen(instance);
      share('a', 1);
      share('b', 3);
      server.release(NAME, 'a~s1:1');
      server.cancel('b', NAME, place('b', 2, 's1X1'));
      expect([holders(), waiters()]).toEqual([['b~s1:1'], []]);
      server.release(NAME, 'b~s1:1');
      share('a', 1, { shared: { limit: 1, turn: 's2' }, place: place('a', 1, 's2') });
      share('b', 3);
      server.release(NAME, 'a~s2:1');
      server.release(NAME, 'b~s1:1');
      expect(holders()).toEqual(['b~s1X1:1']);
      server.cancel('b', NAME, place('b', 3));

      expect([holders(), waiters()]).toEqual([[], []]);
    });

    it('ends with an instance that lets a claim lease expire, not with one that requested it', () => {
      for (const instance of ['a', 'b', 'c']) listen(instance);
      share('a', 1);
      share('b', 3);
      share('c', 1);
      server.release(NAME, 'a~s1:1');
      now += 10;
      server.extend({ name: NAME, owner: 'b~s1:1', ttl: CLAIM, exact: false });
      now += CLAIM;
      share('c', 1);
      expect(holders()).toEqual(['b~s1X1:1']);
      now += CLAIM;
      share('c', 1);

      expect([holders(), waiters()]).toEqual([['c~s1:1'], []]);
    });
  });
});

describe('A request for an exclusive lock, in memory', () => {
  it('has the same lock when it arrives twice, with a whole lease', () => {
    let now = 1_000;
    const server = new MemoryLockServer(() => now);
    const request = { name: NAME, ttl: 100, tokens: 2, place: `a|${CLAIM}|2`, endedToken: 0 };
    const first = server.acquire('a', request);
    now += 90;
    expect(server.acquire('a', request)).toEqual({ ...first, tokens: 1 });
    now += 90;

    expect(server.query(NAME)).toMatchObject({ held: [{ remaining: 10 }], pending: [] });
  });
});

describe('A grant of shared holds, in memory', () => {
  it('has a block of 16 tokens for each of its holds', () => {
    const server = new MemoryLockServer();
    const shared = { limit: 2, turn: 's1' };
    const request = { name: NAME, ttl: 100, tokens: 2, shared, place: undefined, endedToken: 0 };

    expect(server.acquire('a', request)).toMatchObject({ tokens: 2, block: 32 });
  });
});
