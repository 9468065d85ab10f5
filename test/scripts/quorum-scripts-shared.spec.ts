import { waitFor } from '../support/wait-for.js';
import { ACCEPTED, GONE, hold, OneNode, OUTDATED, placeToShare, TAKEN, TTL } from './one-node.js';

describe('one node of a quorum, of holds that are shared', () => {
  let node: OneNode;
  let tests = 0;

  beforeAll(async () => {
    node = await OneNode.start();
  });
  afterAll(() => node[Symbol.asyncDispose]());
  beforeEach(() => node.begin(`shared${(tests += 1)}`));

  it('accepts all shared requests, and no exclusive one', async () => {
    expect(await node.acquireShared('a', 100, { last: 102 })).toBe(ACCEPTED);
    expect(await node.acquireShared('b', 103)).toBe(ACCEPTED);
    expect(await node.acquire('c', 200)).toBe(TAKEN);
    expect(await node.acquire('a', 200)).toBe(TAKEN);
    expect(await node.owner()).toBe('shared');
    expect(await node.holders()).toEqual([
      hold('a', 100, 1),
      hold('a', 100, 2),
      hold('a', 100, 3),
      hold('b', 103),
    ]);
  });

  it('accepts no shared request while an instance holds the lock exclusively', async () => {
    expect(await node.acquire('a', 100)).toBe(ACCEPTED);
    expect(await node.acquireShared('b', 200)).toBe(TAKEN);
    expect(await node.owner()).toBe('a:100');
  });

  it('excludes, and is excluded by, clients that do SET NX PX', async () => {
    expect(await node.acquireShared('a', 100)).toBe(ACCEPTED);
    expect(await node.client.set(node.lock, 'stranger', 'PX', TTL, 'NX')).toBeNull();
    await node.release('a', 100, { holds: [hold('a', 100)] });
    expect(await node.client.set(node.lock, 'stranger', 'PX', TTL, 'NX')).toBe('OK');
    expect(await node.acquireShared('a', 200)).toBe(TAKEN);
    expect(await node.release('a', 200, { holds: [hold('a', 200)] })).toBe(0);
    expect(await node.owner()).toBe('stranger');
  });

  it('accepts tokens beyond all that it has accepted, of either mode, and no others', async () => {
    await node.acquire('a', 100, { last: 110 });
    await node.release('a', 110);
    expect(await node.acquireShared('b', 110)).toBe(OUTDATED);
    expect(await node.acquireShared('b', 111, { last: 120 })).toBe(ACCEPTED);
    expect(await node.acquireShared('c', 120)).toBe(OUTDATED);
    expect(await node.acquireShared('c', 121)).toBe(ACCEPTED);
    const holds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => hold('b', 111, n));
    await node.release('b', 120, { holds });
    await node.release('c', 121, { holds: [hold('c', 121)] });
    expect(await node.acquire('a', 121)).toBe(OUTDATED);
    expect(await node.acquire('a', 122)).toBe(ACCEPTED);
  });

  it('gives the same answer to a request that arrives twice, also after another one', async () => {
    expect(await node.acquireShared('a', 100, { last: 101 })).toBe(ACCEPTED);
    expect(await node.acquireShared('b', 200)).toBe(ACCEPTED);
    expect(await node.acquireShared('a', 100, { last: 101 })).toBe(ACCEPTED);
    expect(await node.holders()).toHaveLength(3);
  });

  it('adds no hold that was released before its request arrived once more', async () => {
    await node.acquireShared('a', 100, { last: 101 });
    await node.release('a', 101, { holds: [hold('a', 100, 2)] });
    expect(await node.acquireShared('a', 100, { last: 101 })).toBe(ACCEPTED);
    expect(await node.holders()).toEqual([hold('a', 100, 1)]);
    await node.release('a', 100, { holds: [hold('a', 100, 1)] });
    expect(await node.acquireShared('a', 100, { last: 101 })).toBe(OUTDATED);
    expect(await node.owner()).toBeNull();
  });

  it('rejects a request that arrives after its release', async () => {
    expect(await node.release('a', 100, { holds: [hold('a', 100)] })).toBe(0);
    expect(await node.acquireShared('a', 100)).toBe(OUTDATED);
    expect(await node.owner()).toBeNull();
  });

  it('takes nothing from a later proposal by a release that arrives late', async () => {
    await node.acquireShared('a', 200);
    expect(await node.release('a', 100, { holds: [hold('a', 100)] })).toBe(0);
    expect(await node.holders()).toEqual([hold('a', 200)]);
  });

  it('lets a lock of the instance alone give way to its next proposal, but not to an older one', async () => {
    await node.acquire('a', 100);
    expect(await node.acquireShared('a', 99)).toBe(OUTDATED);
    expect(await node.owner()).toBe('a:100');
    expect(await node.acquireShared('a', 101)).toBe(ACCEPTED);
    expect(await node.owner()).toBe('shared');
  });

  it('is taken for as long as the last of the leases, which ends one by one', async () => {
    await node.acquireShared('a', 100, { ttl: 200 });
    await node.acquireShared('b', 200, { ttl: 10_000 });
    await waitFor(async () => (await node.extendShared(hold('a', 100), 1)) === 0, { that: 'one to end' });
    expect(await node.owner()).toBe('shared');
    expect(await node.extendShared(hold('b', 200), TTL)).toBe(1);
    await node.acquireShared('c', 300, { ttl: 200 });
    expect(await node.client.pttl(node.lock)).toBeGreaterThan(TTL / 2);
    await node.release('b', 200, { holds: [hold('b', 200)] });
    expect(await node.client.pttl(node.lock)).toBeLessThanOrEqual(200);
    await waitFor(async () => (await node.acquire('b', 400)) === ACCEPTED, { that: 'the last to end' });
  });

  it('renews no hold of a lock that another owner has acquired meanwhile', async () => {
    await node.acquireShared('a', 100);
    await node.client.set(node.lock, 'stranger', 'PX', TTL);
    expect(await node.extendShared(hold('a', 100), TTL)).toBe(0);
    await node.client.del(node.lock);
    expect(await node.acquireShared('b', 200)).toBe(ACCEPTED);
    expect(await node.holders()).toEqual([hold('b', 200)]);
  });

  describe('with instances that wait', () => {
    it('notifies all shared waiters at the head once each, and no exclusive one behind them', async () => {
      await node.acquire('a', 100);
      expect(await node.acquireShared('b', 200, { since: 1 })).toBe(TAKEN);
      expect(await node.acquireShared('c', 200, { since: 2 })).toBe(TAKEN);
      expect(await node.acquire('d', 200, { since: 3 })).toBe(TAKEN);
      await node.release('a', 100);

      expect(await node.heard()).toEqual(['b', 'c'].map((each) => `inbox:${each} released 100 ${node.name}`));
      expect(await node.holders()).toEqual(['b:0', 'c:0']);
      expect(await node.acquire('a', 300)).toBe(TAKEN);
      expect(await node.acquireShared('c', 300, { since: 2 })).toBe(ACCEPTED);
      expect(await node.acquireShared('b', 400, { since: 1 })).toBe(ACCEPTED);
      expect(await node.holders()).toEqual([hold('b', 400), hold('c', 300)]);
      expect(await node.queue()).toEqual(['d']);
    });

    it('notifies the exclusive waiter when the last shared holder leaves', async () => {
      await node.acquireShared('a', 100, { last: 101 });
      await node.acquire('b', 200, { since: 1 });
      await node.release('a', 100, { holds: [hold('a', 100, 1)] });
      expect(await node.heard()).toEqual([]);
      await node.release('a', 101, { holds: [hold('a', 100, 2)] });

      expect(await node.heard()).toEqual([`inbox:b released 101 ${node.name}`]);
      expect(await node.owner()).toBe('b:0');
    });

    it('lets no request overtake an earlier exclusive waiter', async () => {
      await node.acquireShared('a', 100);
      await node.acquire('b', 200, { since: 5 });
      expect(await node.acquireShared('c', 300)).toBe(TAKEN);
      expect(await node.acquireShared('c', 300, { since: 6 })).toBe(TAKEN);
      expect(await node.queue()).toEqual(['b', 'c|0|0|s|']);
      expect(await node.acquireShared('c', 300, { since: 4 })).toBe(ACCEPTED);
    });

    it('lets no request overtake a waiter from before its clock was set back', async () => {
      const now = (await node.time()) * 1_000;
      await node.acquireShared('a', 100);
      await node.acquire('b', 200, { since: now + 3_600_000_000 });

      expect(await node.acquireShared('c', 300, { since: now })).toBe(TAKEN);
    });

    it('lets no request overtake at a free lock either, and reserves it', async () => {
      await node.client.zadd(`${node.lock}:q`, 5, 'b');
      expect(await node.acquireShared('c', 300, { since: 6 })).toBe(TAKEN);
      expect(await node.owner()).toBe('b:0');
      expect(await node.heard()).toContain(`inbox:b released 0 ${node.name}`);
    });

    it('skips a dead exclusive waiter', async () => {
      await node.acquireShared('a', 100);
      await node.acquire('gone', 200, { since: 1 });
      expect(await node.acquireShared('c', 300, { since: 2 })).toBe(ACCEPTED);
      expect(await node.queue()).toEqual([]);
    });

    it('skips a dead shared waiter', async () => {
      await node.acquire('a', 100);
      await node.acquireShared('gone', 200, { since: 1 });
      await node.acquire('b', 200, { since: 2 });
      await node.release('a', 100);
      expect(await node.owner()).toBe('b:0');
    });

    it('continues with the shared waiters when the exclusive one leaves', async () => {
      await node.acquireShared('a', 100);
      await node.acquire('b', 200, { since: 1 });
      await node.acquireShared('c', 300, { since: 2 });
      await node.release('b', 200, { place: 'leave' });

      expect(await node.heard()).toContain(`inbox:c released 200 ${node.name}`);
      expect(await node.holders()).toContain('c:0');
      expect(await node.acquireShared('c', 300, { since: 2 })).toBe(ACCEPTED);
    });

    it('passes a reservation on when its only owner leaves', async () => {
      await node.acquire('a', 100);
      await node.acquireShared('b', 200, { since: 1 });
      await node.acquire('c', 200, { since: 2 });
      await node.release('a', 100);
      expect(await node.owner()).toBe('shared');
      await node.release('b', 0, { place: 'leave' });

      expect(await node.owner()).toBe('c:0');
      expect(await node.holders()).toEqual([]);
    });

    it('releases a grant without a majority and without a message, and queues the instance', async () => {
      await node.acquireShared('a', 100);
      await node.acquire('b', 200, { since: 1 });
      const place = placeToShare('a', 0);
      await node.release('a', 100, { mode: 'quiet', place, holds: [hold('a', 100)] });

      expect(await node.owner()).toBeNull();
      expect(await node.heard()).toEqual([]);
      expect(await node.queue()).toEqual(['a|0|0|s|', 'b']);
    });

    it('hands the lock over at the end of a turn to all shared waiters', async () => {
      await node.acquire('a', 100);
      await node.acquireShared('b', 200, { since: 1 });
      await node.acquireShared('c', 200, { since: 2 });

      expect(await node.yieldTurn('a', 100, 150)).toBe(TAKEN);
      expect(await node.owner()).toBe('shared');
      expect(await node.holders()).toEqual(['b:0', 'c:0']);
      expect(await node.yieldTurn('a', 100, 150)).toBe(GONE);
    });

    it('notifies all holders of a forced release, and continues with the queue', async () => {
      await node.acquireShared('b', 100, { last: 101 });
      await node.acquireShared('c', 200);
      await node.acquire('b', 300, { since: 1 });

      expect(await node.forceRelease()).toEqual([
        [hold('b', 100, 1), hold('b', 100, 2), hold('c', 200)],
        ['b:0'],
      ]);
      expect(await node.heard()).toEqual([
        `inbox:b revoked ${hold('b', 100, 1)} ${node.name}`,
        `inbox:b revoked ${hold('b', 100, 2)} ${node.name}`,
        `inbox:c revoked ${hold('c', 200)} ${node.name}`,
        `inbox:b released 200 ${node.name}`,
      ]);
      expect(await node.owner()).toBe('b:0');
      expect(await node.forceRelease()).toEqual([['b:0'], []]);
      expect(await node.forceRelease()).toEqual([[], []]);
    });

    it('ends the holds of named owners alone', async () => {
      await node.acquireShared('b', 100, { last: 101 });
      await node.acquireShared('c', 200);
      await node.acquire('b', 300, { since: 1 });
      const left = [hold('b', 100, 2), hold('c', 200)];

      expect(await node.forceRelease('only', 'b:300', hold('b', 100, 1))).toEqual([
        [hold('b', 100, 1)],
        left,
      ]);
      expect(await node.heard()).toEqual([`inbox:b revoked ${hold('b', 100, 1)} ${node.name}`]);
      expect(await node.forceRelease('only')).toEqual([[], left]);
      expect(await node.forceRelease('only', ...left)).toEqual([left, ['b:0']]);
    });
  });

  it('leaves no key without expiry', async () => {
    const isLimited = async (): Promise<void> => {
      for (const key of await node.client.keys(`${node.lock}*`))
        expect(await node.client.pttl(key)).toBeGreaterThan(0);
    };
    await node.acquireShared('a', 100);
    await node.acquire('b', 200, { since: 1 });
    await node.acquireShared('c', 200, { since: 2 });
    await isLimited();
    await node.extendShared(hold('a', 100), TTL);
    await isLimited();
    await node.release('b', 200, { place: 'leave' });
    await isLimited();
    await node.release('a', 100, { holds: [hold('a', 100)] });
    await isLimited();
    await node.release('c', 0, { place: 'leave' });
    expect(await node.client.keys(`${node.lock}*`)).toEqual([`${node.lock}:fence`]);
  });
});
