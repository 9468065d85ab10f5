import { ACCEPTED, OneNode, OUTDATED, TAKEN, TTL } from './one-node.js';
import { duringTests } from '../support/during-tests.js';

describe('one node of a quorum', () => {
  const node = duringTests(() => OneNode.start());
  let tests = 0;

  beforeEach(() => node.begin(`n${(tests += 1)}`));

  it('accepts a token beyond all that it has accepted, and no other', async () => {
    expect(await node.acquire('a', 100)).toBe(ACCEPTED);
    expect(await node.release('a', 100)).toBe(1);
    for (const token of [0, 99, 100]) expect(await node.acquire('b', token)).toBe(OUTDATED);
    expect(await node.acquire('b', 101)).toBe(ACCEPTED);
    expect(await node.owner()).toBe('b:101');
  });

  it('counts the whole block of a grant as accepted', async () => {
    expect(await node.acquire('a', 100, { last: 131 })).toBe(ACCEPTED);
    await node.release('a', 100);

    expect(await node.acquire('b', 131)).toBe(OUTDATED);
    expect(await node.acquire('b', 132)).toBe(ACCEPTED);
  });

  it('gives the same answer to a request that arrives twice', async () => {
    expect(await node.acquire('a', 100)).toBe(ACCEPTED);
    expect(await node.acquire('a', 100)).toBe(ACCEPTED);
    expect(await node.owner()).toBe('a:100');
  });

  it('rejects a request that arrives after its release', async () => {
    expect(await node.release('a', 100)).toBe(0);
    expect(await node.acquire('a', 100)).toBe(OUTDATED);
    expect(await node.owner()).toBeNull();
  });

  it('refuses a request that arrives after a later one of its instance', async () => {
    expect(await node.acquire('a', 200)).toBe(ACCEPTED);
    expect(await node.acquire('a', 100)).toBe(OUTDATED);
    expect(await node.release('a', 100)).toBe(0);
    expect(await node.owner()).toBe('a:200');
  });

  it('lets the next proposal of an instance replace its last', async () => {
    expect(await node.acquire('a', 100)).toBe(ACCEPTED);
    expect(await node.acquire('a', 200)).toBe(ACCEPTED);
    expect(await node.owner()).toBe('a:200');
  });

  it('excludes, and is excluded by, clients that do SET NX PX', async () => {
    expect(await node.acquire('a', 100)).toBe(ACCEPTED);
    expect(await node.client.set(node.lock, 'stranger', 'PX', TTL, 'NX')).toBeNull();
    await node.release('a', 100);
    expect(await node.client.set(node.lock, 'stranger', 'PX', TTL, 'NX')).toBe('OK');
    expect(await node.acquire('a', 200)).toBe(TAKEN);
    expect(await node.release('a', 200)).toBe(0);
    expect(await node.owner()).toBe('stranger');
  });

  it('reserves a released lock for the first waiter, notifies it, and rejects all others', async () => {
    await node.acquire('a', 100);
    expect(await node.acquire('c', 300, { since: 2 })).toBe(TAKEN);
    expect(await node.acquire('b', 200, { since: 1 })).toBe(TAKEN);
    await node.release('a', 100);

    expect(await node.owner()).toBe('b:0');
    expect(await node.acquire('a', 400)).toBe(TAKEN);
    expect(await node.acquire('c', 400, { since: 2 })).toBe(TAKEN);
    expect(await node.acquire('b', 400, { since: 1 })).toBe(ACCEPTED);
    expect(await node.heard()).toEqual([`inbox:b released ${node.name}`]);
  });

  it('keeps the place of a waiter that asks again, and publishes nothing', async () => {
    await node.acquire('a', 100);
    for (let i = 0; i < 2; i++) expect(await node.acquire('b', 200, { since: 1 })).toBe(TAKEN);

    expect(await node.queue()).toEqual(['b']);
    expect(await node.heard()).toEqual([]);
  });

  it('removes an instance from the queue with its grant, so that the next release reaches another waiter', async () => {
    await node.acquire('a', 100);
    await node.acquire('b', 150, { since: 1 });
    await node.acquire('c', 160, { since: 2 });
    // Nobody is notified: the grant below finds its instance in the queue.
    await node.release('a', 100, { mode: 'quiet' });

    expect(await node.acquire('b', 200, { since: 1 })).toBe(ACCEPTED);
    expect(await node.queue()).toEqual(['c']);
    await node.release('b', 200);
    expect(await node.owner()).toBe('c:0');
  });

  it('skips an instance that no longer listens', async () => {
    await node.acquire('a', 100);
    await node.acquire('gone', 200, { since: 1 });
    await node.acquire('b', 200, { since: 2 });
    await node.release('a', 100);

    expect(await node.owner()).toBe('b:0');
  });

  it('passes a reservation on when its instance leaves', async () => {
    await node.acquire('a', 100);
    await node.acquire('b', 200, { since: 1 });
    await node.acquire('c', 200, { since: 2 });
    await node.release('a', 100);
    await node.release('b', 0, { place: 'leave' });

    expect(await node.owner()).toBe('c:0');
  });

  it('releases a grant without a majority and without a message, and queues the instance', async () => {
    await node.acquire('a', 100);
    await node.acquire('b', 200, { since: 1 });
    await node.release('a', 100, { mode: 'quiet', place: 'a|0' });

    expect(await node.owner()).toBeNull();
    expect(await node.queue()).toEqual(['a', 'b']);
  });

  it('ends the hold of one owner forcibly, notifies it, and reserves the lock for a waiter', async () => {
    await node.acquire('b', 100);
    await node.acquire('c', 200, { since: 1 });
    for (const owner of ['b:99', 'b:101', 'b', 'a:100']) expect(await node.forceRelease(owner)).toBe(0);
    expect(await node.owner()).toBe('b:100');
    expect(await node.forceRelease('b:100')).toBe(1);

    expect(await node.owner()).toBe('c:0');
    expect(await node.heard()).toEqual([
      `inbox:b revoked b:100 ${node.name}`,
      `inbox:c released ${node.name}`,
    ]);
  });

  it('ends the hold of another package forcibly, and accepts tokens as before', async () => {
    for (const foreign of ['stranger', 'b:99999999999999999999']) {
      await node.client.set(node.lock, foreign, 'PX', TTL);
      expect(await node.forceRelease(foreign)).toBe(1);
      expect(await node.owner()).toBeNull();
    }
    expect(await node.acquire('a', 100)).toBe(ACCEPTED);
  });

  it('lets its instance have the lock again behind a release without other waiters', async () => {
    await node.acquire('a', 100);
    await node.release('a', 100);

    expect(await node.acquire('a', 150, { since: 5 })).toBe(ACCEPTED);
    expect(await node.owner()).toBe('a:150');
  });

  it('queues its instance behind a release that hands the lock over', async () => {
    await node.acquire('a', 100);
    await node.acquire('b', 200, { since: 1 });
    await node.release('a', 100);

    expect(await node.acquire('a', 150, { since: 5 })).toBe(TAKEN);
    expect(await node.owner()).toBe('b:0');
    expect(await node.queue()).toEqual(['a']);
  });

  it('keeps the counter until its clock is ten minutes beyond it', async () => {
    const hour = 3_600_000;
    const ahead = ((await node.time()) + hour) * 1_000;
    const left = (): Promise<number> => node.client.pttl(`${node.lock}:fence`);
    await node.acquire('a', ahead);
    expect(await left()).toBeGreaterThan(hour + 590_000);
    await node.acquire('a', ahead + 1);
    expect(await left()).toBeGreaterThan(hour + 590_000);
    await node.release('a', ahead + hour * 1_000);
    expect(await left()).toBeGreaterThan(2 * hour + 590_000);
  });

  it('queues arrivals after its clock was set back behind the waiters, and keeps each place', async () => {
    const now = (await node.time()) * 1_000;
    const before = now + 3_600_000_000;
    await node.acquire('a', now);
    await node.acquire('c', now, { since: before });
    await node.acquire('b', now, { since: now });
    await node.acquire('d', now, { since: now - 1_000 });
    expect(await node.queue()).toEqual(['c', 'b', 'd']);
    await node.acquire('b', now, { since: now });
    await node.acquire('c', now, { since: before });

    expect(await node.queue()).toEqual(['c', 'b', 'd']);
  });

  it('orders places by their times while its clock is right, in any order of arrival', async () => {
    const now = (await node.time()) * 1_000;
    await node.acquire('a', now);
    await node.acquire('c', now, { since: now });
    await node.acquire('b', now, { since: now - 60_000_000 });

    expect(await node.queue()).toEqual(['b', 'c']);
  });

  it('leaves no key without expiry', async () => {
    await node.acquire('a', 100);
    await node.acquire('b', 200, { since: 1 });
    for (const key of await node.client.keys(`${node.lock}*`)) {
      expect(await node.client.pttl(key)).toBeGreaterThan(0);
    }
    await node.release('a', 100);
    for (const key of await node.client.keys(`${node.lock}*`)) {
      expect(await node.client.pttl(key)).toBeGreaterThan(0);
    }
  });
});
