import { LockService } from '../../../lib/service/lock.service.js';
import { StoreRefusal } from '../../../lib/store/store-errors.js';
import { resolveFlatOptions } from '../../support/flat-options.js';
import { EngineFixture, observe } from '../engine/engine-fixture.js';
import { settle } from '../engine/manual-clock.js';
import { grant } from '../engine/scripted-store.js';

describe('A hold whose detach failed', () => {
  it('admits nested calls again', async () => {
    const { engine, store } = new EngineFixture();
    const locks = new LockService(resolveFlatOptions({}), engine);
    const tokens = locks.using('n', async (outer) => {
      const detaching = observe(outer.detach());
      await store.fail('transfer', new StoreRefusal('NOPERM'));
      expect(detaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      const nested = observe(locks.using('n', ({ fencingToken }) => fencingToken));
      await settle();
      return [outer.fencingToken, nested.value];
    });
    await store.answer('acquire', grant(100));
    await store.answer('release', true);

    expect(await tokens).toEqual([100, 100]);
  });
});
