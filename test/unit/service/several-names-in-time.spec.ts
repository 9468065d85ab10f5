import { LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import { observe } from '../engine/engine-fixture.js';
import { settle } from '../engine/manual-clock.js';
import { grant, taken } from '../engine/scripted-store.js';
import { SeveralNamesFixture } from './several-names-fixture.js';

describe('A call for several names in limited time', () => {
  let fixture: SeveralNamesFixture;
  beforeEach(() => (fixture = new SeveralNamesFixture()));

  it('never lets a trip last longer than its wait', async () => {
    const lock = observe(fixture.acquireAll({ wait: 100, outageTimeout: 5_000 }));
    await fixture.trip('a', 'b', 'c', 'd');
    await fixture.clock.advance(99);
    expect(lock).toEqual({});
    await fixture.clock.advance(2);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
  });

  it('ends with its wait although each reply in its trip has to be confirmed', async () => {
    const lock = observe(fixture.acquireAll({ ttl: 40, wait: 100, outageTimeout: 5_000 }, ['a', 'b']));
    for (let i = 0; i < 3; i++) {
      const [a, b] = await Promise.all([fixture.store.next('acquire'), fixture.store.next('acquire')]);
      await fixture.clock.advance(33);
      // Too little of the lease is left.
      void a.answer(grant(2 * i + 1));
      await b.answer(grant(2 * i + 2));
    }
    expect(lock).toEqual({});
    await fixture.clock.advance(2);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
  });

  it('rejects a ttl within which Redis cannot answer twice, once a lease has run out', async () => {
    const lock = observe(fixture.acquireAll({ ttl: 60, wait: 5_000, label: 'Orders.place' }, ['a', 'b']));
    const first = await fixture.trip('a', 'b');
    await fixture.clock.advance(40);
    await fixture.answer(first, [grant(1), taken(50)]);
    const [waiting] = await fixture.trip('b');
    await fixture.clock.advance(40);
    await waiting?.answer(grant(60));

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
    expect(lock.error).toMatchObject({
      keys: ['a', 'b'],
      message:
        'Redis needs 40 ms to reply, so leases of 60 ms (ttl) expired while the call waited for its other names, ' +
        'and locks "a", "b" were not acquired within 80 ms (Orders.place). Set ttl to at least 120 ms.',
    });
    expect(await fixture.released(2)).toEqual(['a', 'b']);
  });

  it('requests a name again whose lease expired while Redis was slow for a moment', async () => {
    const lock = observe(fixture.acquireAll({ ttl: 60, wait: 5_000 }, ['a', 'b']));
    const first = await fixture.trip('a', 'b');
    await fixture.clock.advance(5);
    await fixture.answer(first, [grant(1), taken(50)]);
    await fixture.answer(await fixture.trip('b'), [taken(50)]);
    await fixture.clock.advance(25);
    const again = await fixture.trip('b');
    await fixture.clock.advance(35);
    await fixture.answer(again, [grant(60)]);
    await fixture.answer(await fixture.trip('a', 'b'), [grant(70), grant(71)]);

    expect(lock.value?.held).toBe(true);
  });

  it('reports a taken name, not an outage, if its time ends during the last trip', async () => {
    const lock = observe(fixture.acquireAll({ wait: 100 }, ['a', 'b']));
    await fixture.answer(await fixture.trip('a', 'b'), [taken(50), grant(2)]);
    const [waiting] = await fixture.trip('a');
    await fixture.clock.advance(90);
    await waiting?.answer(grant(60));
    await fixture.trip('b');
    await fixture.clock.advance(20);

    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect((lock.error as LockTimeoutError).waited).toBeGreaterThanOrEqual(100);
  });

  it('times out if the wait ends in the last trip, after a name that was held in this process', async () => {
    fixture = new SeveralNamesFixture({ window: 1_000 });
    const hold = await fixture.hold({}, { name: 'a', token: 1, tokens: 2 });
    const lock = observe(fixture.acquireAll({ wait: 100 }, ['a', 'b']));
    await fixture.clock.advance(90);
    await hold.release();
    await fixture.trip('b');
    await fixture.clock.advance(20);

    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect(lock.error).toMatchObject({ keys: ['b'] });
  });

  it('times out if the wait ends before the reply to the first queued request for a taken name', async () => {
    const lock = observe(fixture.acquireAll({ wait: 100 }, ['a', 'b']));
    const [a, b] = await fixture.trip('a', 'b');
    await b?.answer(grant(2));
    await fixture.clock.advance(90);
    await a?.answer(taken(50));
    await fixture.trip('a');
    await fixture.clock.advance(20);

    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect(lock.error).toMatchObject({ keys: ['a'], holder: { owner: 'other-1-v1-000000000000:1' } });
  });

  it('reports the holder in the first reply and the held names if the wait ends without another reply', async () => {
    const lock = observe(fixture.acquireAll({ wait: 100 }, ['a', 'b']));
    await fixture.answer(await fixture.trip('a', 'b'), [grant(1), taken(50)]);
    await fixture.trip('b');
    await fixture.clock.advance(110);

    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect(lock.error).toMatchObject({
      keys: ['b'],
      callerHolds: ['a'],
      holder: { owner: 'other-1-v1-000000000000:1' },
    });
    expect(String(lock.error)).toContain("Meanwhile the call's own context held a");
  });

  it('reports how long it waited if Redis does not answer its first trip', async () => {
    const lock = observe(fixture.acquireAll({ outageTimeout: 100 }, ['a', 'b']));
    await fixture.clock.advance(100);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
    expect(lock.error).toHaveProperty('message', expect.stringContaining('were not acquired within 100 ms'));
  });

  it('reports an outage if Redis stops answering before the wait ends', async () => {
    const lock = observe(fixture.acquireAll({ wait: 1_000, outageTimeout: 100 }, ['a', 'b']));
    await fixture.answer(await fixture.trip('a', 'b'), [grant(1), taken(50)]);
    await fixture.trip('b');
    await fixture.clock.advance(150);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
  });

  it('renews its holds while it waits, whatever maxHold and renew are', async () => {
    const lock = observe(
      fixture.acquireAll({ ttl: 3_000, renew: false, maxHold: 500, wait: Infinity, outageTimeout: 60_000 }, [
        'a',
        'b',
      ]),
    );
    await fixture.answer(await fixture.trip('a', 'b'), [grant(1), taken(50)]);
    for (let second = 0; second < 4; second++) {
      await fixture.answer(await fixture.trip('b'), [taken(50)]);
      await fixture.clock.advance(1_000);
      await fixture.store.answer('extend', [true]);
    }
    await fixture.answer(await fixture.trip('b'), [grant(60)]);
    expect(lock.value?.held).toBe(true);
    expect(lock.value?.remaining).toBeGreaterThan(400);
    await fixture.clock.advance(450);
    expect(lock.value?.held).toBe(true);
    await fixture.clock.advance(100);
    expect(lock.value?.held).toBe(false);
    expect(lock.value?.signal.reason).toMatchObject({ reason: 'max-hold' });
  });

  it('restarts a lease without renewal when it has all names', async () => {
    const lock = observe(fixture.acquireAll({ ttl: 3_000, renew: false, outageTimeout: 60_000 }, ['a', 'b']));
    await fixture.answer(await fixture.trip('a', 'b'), [grant(1), taken(50)]);
    const [waiting] = await fixture.trip('b');
    await fixture.clock.advance(900);
    await waiting?.answer(grant(60));
    const { request, answer: confirm } = await fixture.store.next('extend');
    expect(request).toMatchObject([
      { name: 'a', ttl: 3_000 },
      { name: 'b', ttl: 3_000 },
    ]);
    await confirm([true, true]);

    expect(lock.value?.fencingTokenOf('a')).toBe(1);
    expect(lock.value?.held).toBe(true);
  });

  it('leaves a lease without renewal unchanged when it has all names at once', async () => {
    const lock = observe(fixture.acquireAll({ ttl: 3_000, renew: false }, ['a', 'b']));
    await fixture.answer(await fixture.trip('a', 'b'), [grant(1), grant(60)]);
    await settle();

    expect(lock.value?.held).toBe(true);
    expect(fixture.store.unseen('extend')).toBe(0);
  });
});
