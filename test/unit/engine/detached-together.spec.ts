import { CombinedLock } from '../../../lib/engine/hold/combined-lock.js';
import { StoreRefusal } from '../../../lib/store/store-errors.js';
import { bound, EngineFixture, observe } from './engine-fixture.js';

describe('Holds that are detached together', () => {
  it('are all released if one is lost, under the owner id of the detached hold', async () => {
    const { hold, store } = bound(new EngineFixture());
    const [a, b] = [await hold({}, { name: 'a' }), await hold({}, { name: 'b' })];
    const detaching = observe(new CombinedLock([a, b]).detach());
    const [left, lost] = [await store.next('transfer'), await store.next('transfer')];
    void left.answer(true);
    await lost.answer(false);
    const release = await store.next('release');
    expect(release.request).toEqual({ name: 'a', owner: left.request.to });
    expect(detaching).toEqual({});
    await release.answer(true);

    expect(detaching.error).toMatchObject({ code: 'LOCK_LOST', keys: ['b'] });
  });

  it('are lost with the names of all if the transfer of one fails', async () => {
    const { hold, store } = bound(new EngineFixture());
    const [a, b] = [await hold({}, { name: 'a' }), await hold({}, { name: 'b' })];
    const cause = new StoreRefusal('NOPERM');
    const detaching = observe(new CombinedLock([a, b]).detach());
    await store.fail('transfer', cause);
    await store.answer('transfer', true);
    for (let i = 0; i < 2; i++) await store.answer('release', true);

    expect(detaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', keys: ['a', 'b'], cause });
    expect((detaching.error as Error).message).toBe(
      'Redis refused the detachment of the hold on "a", "b" (NOPERM). The hold of all its names was released.',
    );
    expect(a.signal.reason).toMatchObject({ code: 'LOCK_LOST', keys: ['a', 'b'], reason: 'gone' });
  });
});
