import { CombinedLock } from '../../../lib/engine/hold/combined-lock.js';
import { StoreRefusal } from '../../../lib/store/store-errors.js';
import { bound, EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';

describe('Holds that are detached together', () => {
  it('are all released if one is lost, under the owner id of the detached hold', async () => {
    const { hold, store } = bound(new EngineFixture());
    const [a, b] = [await hold({}, { name: 'a' }), await hold({}, { name: 'b' })];
    const detaching = observe(new CombinedLock([a, b]).detach());
    const [left, lost] = [await store.next('transfer'), await store.next('transfer')];
    left.answer(true);
    lost.answer(false);
    const release = await store.next('release');
    expect(release.request).toEqual({ name: 'a', owner: left.request.to });
    expect(detaching).toEqual({});
    release.answer(true);
    await settle();

    expect(detaching.error).toMatchObject({ code: 'LOCK_LOST', keys: ['b'] });
  });

  it('are lost with the names of all if the transfer of one fails', async () => {
    const { hold, store } = bound(new EngineFixture());
    const [a, b] = [await hold({}, { name: 'a' }), await hold({}, { name: 'b' })];
    const cause = new StoreRefusal('NOPERM');
    const detaching = observe(new CombinedLock([a, b]).detach());
    (await store.next('transfer')).fail(cause);
    (await store.next('transfer')).answer(true);
    for (let i = 0; i < 2; i++) (await store.next('release')).answer(true);
    await settle();

    expect(detaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', keys: ['a', 'b'], cause });
    expect((detaching.error as Error).message).toBe(
      'Redis refused the detachment of the hold on "a", "b" (NOPERM). The hold of all its names was released.',
    );
    expect(a.signal.reason).toMatchObject({ code: 'LOCK_LOST', keys: ['a', 'b'], reason: 'gone' });
  });
});
