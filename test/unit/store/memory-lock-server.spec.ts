import { MemoryLockServer } from '../../../lib/store/memory/memory-lock-server.js';
import { isGrant } from '../../../lib/store/grant.js';
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

describe('A bid in memory', () => {
  let now: number;
  let server: MemoryLockServer;
  beforeEach(() => {
    now = 1_000;
    server = new MemoryLockServer(() => now);
  });

  const listen = (instance: string): void => server.inboxes.open(instance, NO_EVENTS);
  const tagOf = (limit: number): string => `s1of${limit}`;
  const place = (instance: string, wanted: number, limit = 1): string =>
    `${instance}|${CLAIM}|${wanted}|${tagOf(limit)}`;
  /** Asks for so many holds, of which one at a time may be had. Returns how many are granted. */
  const share = (instance: string, wanted: number, { limit = 1, ttl = 100 } = {}): number =>
    server.share(instance, {
      name: NAME,
      ttl,
      holds: wanted,
      terms: { limit, permits: 1 },
      since: 0,
      known: [],
      place: place(instance, wanted, limit),
      endedToken: 0,
    }).holds.length;
  /** Requests one of two holds. */
  const shareTwo = (instance: string, ttl = 100): number => share(instance, 1, { limit: 2, ttl });
  const cancel = (instance: string, limit = 1): readonly string[] =>
    server.cancel(instance, NAME, {
      place: place(instance, 1, limit),
      shared: { terms: { limit, permits: 1 }, since: 0 },
    });
  /** The owner ids without tokens. */
  const names = (owners: readonly string[]): string[] => owners.map((owner) => owner.replace(/:\d+$/, ''));
  const release = (instance: string): void => {
    const [owner = ''] = ownerIds().filter((each) => each.startsWith(`${instance}~`));
    server.release(NAME, owner);
  };
  const ownerIds = (): string[] => server.query(NAME).held.map(({ owner }) => owner);
  const holders = (): string[] => names(ownerIds());
  const waiters = (): string[] => server.query(NAME).pending.map(({ owner }) => owner);

  it('has the same holds when its request arrives twice', () => {
    expect([share('a', 1), share('a', 1)]).toEqual([1, 1]);
    expect(holders()).toEqual(['a~s1of1']);
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

    expect(holders().toSorted()).toEqual(['b~s1of2', 'c~s1of2']);
  });

  it('is admitted by a late release of a hold whose lease has expired', () => {
    listen('c');
    shareTwo('a');
    shareTwo('b', 300);
    shareTwo('c');
    const [expired = ''] = ownerIds();
    now += 100;
    server.release(NAME, expired);

    expect(holders().toSorted()).toEqual(['b~s1of2', 'c~s1of2']);
  });

  it('is not admitted beside an exclusive hold when a waiter before it leaves', () => {
    for (const instance of ['b', 'c']) listen(instance);
    server.acquire('a', { name: NAME, ttl: 100, tokens: 1, place: undefined, endedToken: 0 });
    share('b', 1);
    share('c', 1);
    cancel('b');

    expect([holders().length, waiters()]).toEqual([1, ['c']]);
  });

  it('leaves, and is told its own holds with these terms', () => {
    share('a', 1, { limit: 3 });
    shareTwo('a');
    share('b', 1, { limit: 3 });

    expect(names(cancel('a', 2))).toEqual(['a~s1of2']);
    expect(cancel('c', 2)).toEqual([]);
    expect(holders()).toHaveLength(3);
  });

  it('loses its place after an expired claim lease, and is granted a hold when it asks again', () => {
    listen('b');
    share('a', 1);
    share('b', 1);
    release('a');
    now += CLAIM;
    const grant = server.acquire('a', { name: NAME, ttl: 100, tokens: 1, place: undefined, endedToken: 0 });
    share('b', 1);
    expect(waiters()).toEqual(['b']);
    server.release(NAME, grant.owner ?? '');

    expect([holders(), waiters()]).toEqual([[], []]);
    expect(share('b', 1)).toBe(1);
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
      release('b');
      expect(holders()).toEqual(['b~s1of1']);
    });

    it('leaves with its place, and the holds before continue', () => {
      for (const instance of ['a', 'b']) listen(instance);
      share('a', 1);
      share('b', 3);
      release('a');
      expect(waiters()).toEqual(['b']);

      expect(names(cancel('b'))).toEqual(['b~s1of1']);
      expect([holders(), waiters()]).toEqual([['b~s1of1'], []]);
    });

    it('ends with an instance that lets a claim lease expire, not with one that requested it', () => {
      for (const instance of ['a', 'b', 'c']) listen(instance);
      share('a', 1);
      share('b', 3);
      share('c', 1);
      release('a');
      now += 10;
      server.extend({ name: NAME, owner: ownerIds()[0] ?? '', ttl: CLAIM, exact: false });
      now += CLAIM;
      share('c', 1);
      expect(holders()).toEqual(['b~s1of1']);
      now += CLAIM;
      share('c', 1);

      expect([holders(), waiters()]).toEqual([['c~s1of1'], []]);
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
  it('has a block of 64 tokens for each of its holds', () => {
    const server = new MemoryLockServer();
    const terms = { limit: 2, permits: 1 };
    const wanted = { terms, holds: 2, since: 0, known: [] };
    const { holds } = server.share('a', { name: NAME, ttl: 100, ...wanted, place: undefined, endedToken: 0 });

    expect(holds.map(({ tokens }) => tokens)).toEqual([64, 64]);
    expect((holds[1]?.token ?? 0) - (holds[0]?.token ?? 0)).toBe(64);
  });
});
