import { SeveralNames } from '../../../lib/service/acquire/several-names.js';
import { SingleName } from '../../../lib/service/acquire/single-name.js';
import type { CombinedLock } from '../../../lib/engine/hold/combined-lock.js';
import { LockClosedError, LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import { LockContext } from '../../../lib/service/reentrance/lock-context.js';
import type { AcquireRequest } from '../../../lib/store/lock-store.js';
import type { Grant, Taken } from '../../../lib/store/grant.js';
import { EngineFixture, observe } from '../engine/engine-fixture.js';
import { settle } from '../engine/manual-clock.js';
import { grant, type StoreCall, taken } from '../engine/scripted-store.js';

describe('A call for several names', () => {
  let fixture: EngineFixture;
  beforeEach(() => (fixture = new EngineFixture()));

  const acquire = (options: LockOptions = {}, names = ['a', 'b', 'c', 'd']): Promise<CombinedLock> =>
    new SeveralNames(
      names,
      resolveLockOptions(LOCK_OPTION_DEFAULTS, options),
      new SingleName(fixture.engine, new LockContext()),
    ).acquire();

  /** The requests of a trip, which have to be under way together. */
  const trip = async (...names: string[]): Promise<StoreCall<'acquire'>[]> => {
    const [first, ...more] = names.map(() => fixture.store.next('acquire'));
    const calls = [await first, ...(await Promise.all(more))].filter((call) => call !== undefined);
    expect(calls.map(({ request }) => request.name)).toEqual(names);
    expect(fixture.store.unseen('acquire')).toBe(0);
    return calls;
  };

  const answer = async (
    calls: StoreCall<'acquire'>[],
    replies: readonly (Grant | Taken)[],
  ): Promise<void> => {
    calls.forEach((call, i) => call.answer(replies[i] ?? taken(50)));
    await settle();
  };

  const released = async (count: number): Promise<string[]> => {
    const calls = await Promise.all(Array.from({ length: count }, () => fixture.store.next('release')));
    for (const call of calls) call.answer(true);
    await settle();
    expect(fixture.store.unseen('release')).toBe(0);
    return calls.map(({ request }) => request.name).toSorted();
  };

  const isQueueing = ({ request }: { readonly request: AcquireRequest }): boolean =>
    request.place !== undefined;

  it('requests all of them together, without a place in any queue', async () => {
    const lock = observe(acquire());
    const calls = await trip('a', 'b', 'c', 'd');

    expect(calls.some(isQueueing)).toBe(false);
    await answer(calls, [grant(1), grant(2), grant(3), grant(4)]);
    expect(lock.value?.keys).toEqual(['a', 'b', 'c', 'd']);
    expect(lock.value?.held).toBe(true);
  });

  it('keeps the names before the first taken one, releases the rest, waits, and tries the rest together', async () => {
    const lock = observe(acquire());
    await answer(await trip('a', 'b', 'c', 'd'), [grant(1), taken(50), grant(3), grant(4)]);
    expect(await released(2)).toEqual(['c', 'd']);
    const [waiting] = await trip('b');
    expect(waiting && isQueueing(waiting)).toBe(true);
    waiting?.answer(taken(50));
    await settle();
    fixture.events.granted('b', grant(60), 3_000);
    await settle();
    const rest = await trip('c', 'd');

    expect(rest.some(isQueueing)).toBe(false);
    await answer(rest, [grant(70), grant(71)]);
    expect(lock.value?.fencingTokenOf('a')).toBe(1);
    expect(lock.value?.fencingTokenOf('d')).toBe(71);
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('requests nothing after a name with a local holder, and waits for that', async () => {
    const hold = await fixture.hold({}, { name: 'c', token: 1, tokens: 2 });
    const lock = observe(acquire());
    await answer(await trip('a', 'b'), [grant(11), grant(12)]);
    expect(fixture.store.unseen('acquire')).toBe(0);
    // Passed on in memory.
    await hold.release();
    await settle();
    await answer(await trip('d'), [grant(14)]);

    expect(['a', 'b', 'c', 'd'].map((name) => lock.value?.fencingTokenOf(name))).toEqual([11, 12, 2, 14]);
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('requests nothing by a single attempt if one of them has a local holder', async () => {
    await fixture.hold({}, { name: 'c', token: 1 });
    const lock = observe(acquire({ wait: 0 }));
    await settle();

    expect(lock.error).toMatchObject({ code: 'LOCK_TIMEOUT', keys: ['c'], holder: { owner: 'me:1' } });
    expect(fixture.store.unseen('acquire')).toBe(0);
  });

  it('makes one trip by a single attempt, names all missing names, and releases its grants at once', async () => {
    const lock = observe(acquire({ wait: 0, minHold: 5_000 }));
    await answer(await trip('a', 'b', 'c', 'd'), [grant(1), taken(50), grant(3), taken(50)]);

    expect(await released(2)).toEqual(['a', 'c']);
    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect(lock.error).toMatchObject({ keys: ['b', 'd'], held: [], holder: { owner: 'other:1' } });
    expect(String(lock.error)).not.toContain('Meanwhile');
    expect(fixture.store.unseen('acquire')).toBe(0);
    expect(fixture.engine.size).toBe(0);
  });

  it('requests a name again that it loses during its last trip', async () => {
    const lock = observe(acquire({}, ['a', 'b']));
    const [a, b] = await trip('a', 'b');
    a?.answer(grant(1));
    await settle();
    fixture.events.revoked('a', 'me:1');
    b?.answer(grant(2));
    await settle();
    expect(await released(1)).toEqual(['b']);
    await answer(await trip('a'), [grant(3)]);
    await answer(await trip('b'), [grant(4)]);

    expect(lock.value?.held).toBe(true);
    expect(lock.value?.fencingToken).toBe(3);
  });

  it('ends with one error that names all unanswered names, and releases the others', async () => {
    const lock = observe(acquire({ outageTimeout: 200 }));
    const [a, , c] = await trip('a', 'b', 'c', 'd');
    a?.answer(grant(1));
    c?.answer(grant(3));
    await fixture.clock.advance(250);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
    expect(lock.error).toMatchObject({ keys: ['b', 'd'], cause: fixture.store.trouble });
    expect(await released(2)).toEqual(['a', 'c']);
  });

  it('releases a grant whose reply arrives after the call has ended', async () => {
    const lock = observe(acquire({ outageTimeout: 200 }, ['a', 'b']));
    const [a, b] = await trip('a', 'b');
    a?.answer(grant(1));
    await fixture.clock.advance(250);
    expect(lock.error).toMatchObject({ keys: ['b'] });
    expect(await released(1)).toEqual(['a']);
    b?.answer(grant(2));
    await settle();

    expect(await released(1)).toEqual(['b']);
    expect(fixture.engine.size).toBe(0);
  });

  it('never lets a trip last longer than its wait', async () => {
    const lock = observe(acquire({ wait: 100, outageTimeout: 5_000 }));
    await trip('a', 'b', 'c', 'd');
    await fixture.clock.advance(99);
    expect(lock).toEqual({});
    await fixture.clock.advance(2);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
  });

  it('ends with its wait although each reply in its trip has to be confirmed', async () => {
    const lock = observe(acquire({ ttl: 40, wait: 100, outageTimeout: 5_000 }, ['a', 'b']));
    for (let i = 0; i < 3; i++) {
      const [a, b] = await Promise.all([fixture.store.next('acquire'), fixture.store.next('acquire')]);
      await fixture.clock.advance(33);
      // Too little of the lease is left.
      a.answer(grant(2 * i + 1));
      b.answer(grant(2 * i + 2));
      await settle();
    }
    expect(lock).toEqual({});
    await fixture.clock.advance(2);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
  });

  it('rejects a ttl within which Redis cannot answer twice, once a lease has run out', async () => {
    const lock = observe(acquire({ ttl: 60, wait: 5_000, label: 'Orders.place' }, ['a', 'b']));
    const first = await trip('a', 'b');
    await fixture.clock.advance(40);
    await answer(first, [grant(1), taken(50)]);
    const [waiting] = await trip('b');
    await fixture.clock.advance(40);
    waiting?.answer(grant(60));
    await settle();

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
    expect(lock.error).toMatchObject({
      keys: ['a', 'b'],
      message:
        'Redis needs 40 ms to reply, so leases of 60 ms (ttl) expired while the call waited for its other names, ' +
        'and locks "a", "b" were not acquired within 80 ms (Orders.place). Set ttl to at least 120 ms.',
    });
    expect(await released(2)).toEqual(['a', 'b']);
  });

  it('requests a name again whose lease expired while Redis was slow for a moment', async () => {
    const lock = observe(acquire({ ttl: 60, wait: 5_000 }, ['a', 'b']));
    const first = await trip('a', 'b');
    await fixture.clock.advance(5);
    await answer(first, [grant(1), taken(50)]);
    await answer(await trip('b'), [taken(50)]);
    await fixture.clock.advance(25);
    const again = await trip('b');
    await fixture.clock.advance(35);
    await answer(again, [grant(60)]);
    await answer(await trip('a', 'b'), [grant(70), grant(71)]);

    expect(lock.value?.held).toBe(true);
  });

  it('reports a taken name, not an outage, if its time ends during the last trip', async () => {
    const lock = observe(acquire({ wait: 100 }, ['a', 'b']));
    await answer(await trip('a', 'b'), [taken(50), grant(2)]);
    const [waiting] = await trip('a');
    await fixture.clock.advance(90);
    waiting?.answer(grant(60));
    await trip('b');
    await fixture.clock.advance(20);

    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect((lock.error as LockTimeoutError).waited).toBeGreaterThanOrEqual(100);
  });

  it('times out if the wait ends in the last trip, after a name that was held in this process', async () => {
    fixture = new EngineFixture({ window: 1_000 });
    const hold = await fixture.hold({}, { name: 'a', token: 1, tokens: 2 });
    const lock = observe(acquire({ wait: 100 }, ['a', 'b']));
    await fixture.clock.advance(90);
    await hold.release();
    await trip('b');
    await fixture.clock.advance(20);

    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect(lock.error).toMatchObject({ keys: ['b'] });
  });

  it('times out if the wait ends before the reply to the first queued request for a taken name', async () => {
    const lock = observe(acquire({ wait: 100 }, ['a', 'b']));
    const [a, b] = await trip('a', 'b');
    b?.answer(grant(2));
    await fixture.clock.advance(90);
    a?.answer(taken(50));
    await settle();
    await trip('a');
    await fixture.clock.advance(20);

    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect(lock.error).toMatchObject({ keys: ['a'], holder: { owner: 'other:1' } });
  });

  it('reports an outage if Redis stops answering before the wait ends', async () => {
    const lock = observe(acquire({ wait: 1_000, outageTimeout: 100 }, ['a', 'b']));
    await answer(await trip('a', 'b'), [grant(1), taken(50)]);
    await trip('b');
    await fixture.clock.advance(150);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
  });

  it('renews its holds while it waits, whatever maxHold and renew are', async () => {
    const lock = observe(
      acquire({ ttl: 3_000, renew: false, maxHold: 500, wait: Infinity, outageTimeout: 60_000 }, ['a', 'b']),
    );
    await answer(await trip('a', 'b'), [grant(1), taken(50)]);
    for (let second = 0; second < 4; second++) {
      await answer(await trip('b'), [taken(50)]);
      await fixture.clock.advance(1_000);
      (await fixture.store.next('extend')).answer([true]);
      await settle();
    }
    await answer(await trip('b'), [grant(60)]);
    expect(lock.value?.held).toBe(true);
    expect(lock.value?.remaining).toBeGreaterThan(400);
    await fixture.clock.advance(450);
    expect(lock.value?.held).toBe(true);
    await fixture.clock.advance(100);
    expect(lock.value?.held).toBe(false);
    expect(lock.value?.signal.reason).toMatchObject({ reason: 'max-hold' });
  });

  it('restarts a lease without renewal when it has all names', async () => {
    const lock = observe(acquire({ ttl: 3_000, renew: false, outageTimeout: 60_000 }, ['a', 'b']));
    await answer(await trip('a', 'b'), [grant(1), taken(50)]);
    const [waiting] = await trip('b');
    await fixture.clock.advance(900);
    waiting?.answer(grant(60));
    await settle();
    const { request, answer: confirm } = await fixture.store.next('extend');
    expect(request).toMatchObject([
      { name: 'a', ttl: 3_000 },
      { name: 'b', ttl: 3_000 },
    ]);
    confirm([true, true]);
    await settle();

    expect(lock.value?.fencingTokenOf('a')).toBe(1);
    expect(lock.value?.held).toBe(true);
  });

  it('releases everything when the instance shuts down, in the first trip and while it waits', async () => {
    const first = observe(acquire());
    const calls = await trip('a', 'b', 'c', 'd');
    calls[0]?.answer(grant(1));
    await settle();
    fixture.engine.rejectAcquires();
    await settle();

    expect(first.error).toBeInstanceOf(LockClosedError);
    expect(first.error).toMatchObject({ keys: ['b', 'c', 'd'] });
    expect(await released(1)).toEqual(['a']);
  });
});
