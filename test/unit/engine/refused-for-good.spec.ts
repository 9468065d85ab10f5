import { StoreRefusal } from '../../../lib/store/store-errors.js';
import { bound, EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';

const LOST = new Error('Stream is not writable.');
const REFUSED = new StoreRefusal('NOPERM this user has no permissions');

describe('A request that the store refuses for good', () => {
  it('leaves no place behind if it was the first request: nothing is cancelled', async () => {
    const { acquire, store } = bound(new EngineFixture());
    const waiting = observe(acquire());
    await store.fail('acquire', REFUSED);

    expect(waiting.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', cause: REFUSED });
    expect(store.unseen('cancel')).toBe(0);
  });

  it('leaves the queue if the reply to an earlier request was lost', async () => {
    const { acquire, clock, store } = bound(new EngineFixture());
    const waiting = observe(acquire({ outageTimeout: 5_000 }));
    await store.fail('acquire', LOST); // the store may have queued this instance, or granted the lock
    await clock.advance(50);
    await store.fail('acquire', REFUSED);

    expect(waiting.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', cause: REFUSED });
    expect((await store.next('cancel')).request.place).toMatch(/^me\|/);
  });

  it('leaves the queue if the client had sent the request twice', async () => {
    const { acquire, events, store } = bound(new EngineFixture());
    const waiting = observe(acquire());
    const call = await store.next('acquire');
    events().reconnected();
    await call.fail(REFUSED);

    expect(waiting.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    const { answer } = await store.next('cancel');
    await answer(['me:100']);
    expect((await store.next('release')).request.owner).toBe('me:100');
  });

  it('leaves the queue of a reader whose reply was lost', async () => {
    const { acquire, clock, store } = bound(new EngineFixture());
    const waiting = observe(acquire({ mode: 'shared' }));
    await store.fail('share', LOST);
    await clock.advance(50);
    await store.fail('share', REFUSED);

    expect(waiting.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(store.unseen('cancel')).toBe(1);
  });

  it('as a yield, is followed by a release, so that other instances get the lock', async () => {
    const { acquire, clock, hold, store } = bound(new EngineFixture({ max: 1 }));
    const lock = await hold();
    const behind = observe(acquire());
    void lock.release();
    await store.fail('yield', REFUSED);

    expect(behind.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', cause: REFUSED });
    const release = await store.next('release');
    expect(release.request).toEqual({ name: 'n', owner: 'me:100' });
    await release.answer(true);
    await clock.advance(60_000);
    expect(['release', 'cancel', 'acquire'].map((each) => store.unseen(each as 'cancel'))).toEqual([0, 0, 0]);
  });

  it('as a yield that was sent twice, also leaves the queue', async () => {
    const { acquire, events, hold, store } = bound(new EngineFixture({ max: 1 }));
    const lock = await hold();
    void observe(acquire());
    void lock.release();
    const call = await store.next('yield');
    events().reconnected();
    await call.fail(REFUSED);

    expect([store.unseen('release'), store.unseen('cancel')]).toEqual([1, 1]);
  });

  it('as a release, ends the lease without a hand-off', async () => {
    const { clock, hold, store } = bound(new EngineFixture());
    const lock = await hold();
    void lock.release();
    await store.fail('release', REFUSED);
    const ended = await store.next('extend');
    expect(ended.request).toEqual([{ name: 'n', owner: 'me:100', ttl: 0, exact: true }]);
    await ended.answer([1]);
    await clock.advance(50);
    expect(store.unseen('extend')).toBe(0);

    const other = await hold({}, { token: 200 });
    void other.release();
    await store.fail('release', LOST);
    await clock.advance(50);
    await store.fail('release', REFUSED);
    const endedToo = await store.next('extend');
    expect(endedToo.request).toEqual([{ name: 'n', owner: 'me:200', ttl: 0, exact: true }]);
    await endedToo.answer([1]);
    await clock.advance(60_000);
    expect([store.unseen('extend'), store.unseen('release')]).toEqual([0, 0]);
  });
});

describe('Contention that a store reports', () => {
  it('while a caller here holds the lock is no outage for the callers behind it', async () => {
    const { acquire, clock, engine, hold, store } = bound(new EngineFixture());
    const lock = await hold({ outageTimeout: 100 });
    engine.queues.get('n')?.report({ kind: 'contended' });
    const behind = observe(acquire({ outageTimeout: 100, wait: 10_000 }));
    await clock.advance(1_000);

    expect(store.unseen('acquire')).toBe(0);
    expect(lock.held).toBe(true);
    expect(behind).toEqual({});
  });
});

describe('A hold that lasted longer than maxHold', () => {
  it('passes its lease on when it is released, with a greater token', async () => {
    const { acquire, clock, hold, store } = bound(new EngineFixture({ window: 10_000 }));
    const lock = await hold({ maxHold: 100, ttl: 10_000 }, { tokens: 5 });
    const behind = observe(acquire());
    await clock.advance(150);
    expect([lock.held, lock.signal.aborted, behind.value]).toEqual([false, true, undefined]);
    await lock.release();
    await settle();

    expect(behind.value?.held).toBe(true);
    expect(behind.value?.fencingToken).toBeGreaterThan(lock.fencingToken);
    expect([store.unseen('release'), store.unseen('yield')]).toEqual([0, 0]);
  });

  it('is not renewed while its work goes on', async () => {
    const { clock, hold, store } = bound(new EngineFixture());
    const lock = await hold({ maxHold: 100, ttl: 900 });
    await clock.advance(2_000);

    expect(store.unseen('extend')).toBe(0);
    expect(lock.held).toBe(false);
  });
});
