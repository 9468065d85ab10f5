import { LockClosedError, LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import { observe } from '../engine/engine-fixture.js';
import { settle } from '../engine/manual-clock.js';
import { grant, taken } from '../engine/scripted-store.js';
import { SeveralNamesFixture } from './several-names-fixture.js';

describe('A call for several names', () => {
  let fixture: SeveralNamesFixture;
  beforeEach(() => (fixture = new SeveralNamesFixture()));

  it.each(['holds', 'requests'])('requests nothing after a name that a local caller %s', async (state) => {
    const holding = fixture.acquire({}, 'c');
    const request = await fixture.trip('c');
    if (state === 'holds') await fixture.answer(request, [grant(1, 2)]);
    const lock = observe(fixture.acquireAll());
    await fixture.answer(await fixture.trip('a', 'b'), [grant(11), grant(12)]);
    expect(fixture.store.unseen('acquire')).toBe(0);
    if (state === 'requests') await fixture.answer(request, [grant(1, 2)]);
    // Passed on in memory.
    await (await holding).release();
    await settle();
    await fixture.answer(await fixture.trip('d'), [grant(14)]);

    expect(['a', 'b', 'c', 'd'].map((name) => lock.value?.fencingTokenOf(name))).toEqual([11, 12, 2, 14]);
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('makes one trip by a single attempt, names all missing names, and releases its grants at once', async () => {
    const lock = observe(fixture.acquireAll({ wait: 0, minHold: 5_000 }));
    await fixture.answer(await fixture.trip('a', 'b', 'c', 'd'), [grant(1), taken(50), grant(3), taken(50)]);

    expect(await fixture.released(2)).toEqual(['a', 'c']);
    expect(lock.error).toBeInstanceOf(LockTimeoutError);
    expect(lock.error).toMatchObject({
      keys: ['b', 'd'],
      callerHolds: [],
      holder: { owner: 'other-1-v1-000000000000:1' },
    });
    expect(String(lock.error)).not.toContain('Meanwhile');
    expect(fixture.store.unseen('acquire')).toBe(0);
    expect(fixture.engine.size).toBe(0);
  });

  it('requests a name again that it loses during its last trip', async () => {
    const lock = observe(fixture.acquireAll({}, ['a', 'b']));
    const [a, b] = await fixture.trip('a', 'b');
    await a?.answer(grant(1));
    fixture.events.revoked('a', 'me:1');
    await b?.answer(grant(2));
    expect(await fixture.released(1)).toEqual(['b']);
    await fixture.answer(await fixture.trip('a'), [grant(3)]);
    await fixture.answer(await fixture.trip('b'), [grant(4)]);

    expect(lock.value?.held).toBe(true);
    expect(lock.value?.fencingToken).toBe(3);
  });

  it('ends with one error that names all unanswered names, and releases the others', async () => {
    const lock = observe(fixture.acquireAll({ outageTimeout: 200 }));
    const [a, , c] = await fixture.trip('a', 'b', 'c', 'd');
    void a?.answer(grant(1));
    await c?.answer(grant(3));
    await fixture.clock.advance(250);

    expect(lock.error).toBeInstanceOf(LockUnavailableError);
    expect(lock.error).toMatchObject({ keys: ['b', 'd'], cause: fixture.store.trouble });
    expect(await fixture.released(2)).toEqual(['a', 'c']);
  });

  it('releases everything when the instance shuts down, in the first trip and while it waits', async () => {
    const first = observe(fixture.acquireAll());
    const calls = await fixture.trip('a', 'b', 'c', 'd');
    await calls[0]?.answer(grant(1));
    fixture.engine.rejectAcquires();
    await settle();

    expect(first.error).toBeInstanceOf(LockClosedError);
    expect(first.error).toMatchObject({ keys: ['b', 'c', 'd'] });
    expect(await fixture.released(1)).toEqual(['a']);
  });
});
