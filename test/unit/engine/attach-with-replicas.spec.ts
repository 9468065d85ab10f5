import { newSecret, ownerOfDetached } from '../../../lib/engine/hold/detached-lock.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import type { OwnerChange } from '../../../lib/store/lock-store.js';
import { EngineFixture, observe } from './engine-fixture.js';
import type { StoreCall } from './scripted-store.js';

const replicas = { min: 1, timeout: 100 };
const mode = 'exclusive' as const;
const detached = { name: 'n', instance: 'other', token: 70, minHold: 0, mode, permits: 1, ttl: 60_000 };
const secret = newSecret();

describe('A hold that is attached with replicas', () => {
  let fixture: EngineFixture;
  let attaching: { value?: readonly { held: boolean }[]; error?: unknown };
  let change: OwnerChange;
  let confirmation: StoreCall<'extend'>;

  beforeEach(async () => {
    fixture = new EngineFixture();
    const options = resolveLockOptions(LOCK_OPTION_DEFAULTS, { ttl: 9_000, replicas });
    attaching = observe(fixture.engine.attach({ secret, holds: [detached] }, options));
    const transfer = await fixture.store.next('transfer');
    change = transfer.request;
    await transfer.answer(true);
    confirmation = await fixture.store.next('extend');
  });

  it('is granted after they confirmed its new owner id', async () => {
    expect(confirmation.request).toEqual([
      { name: 'n', owner: change.to, ttl: 9_000, exact: false, replicas },
    ]);
    expect(attaching).toEqual({});
    await confirmation.answer([true]);

    expect(attaching.value?.[0]?.held).toBe(true);
  });

  it('is undone if too few of them confirm', async () => {
    await confirmation.answer([false]);
    const from = ownerOfDetached(secret, detached);
    const back = await fixture.store.next('transfer');
    expect(back.request).toMatchObject({ from: change.to, to: from });
    expect(attaching).toEqual({});
    await back.answer(true);

    expect(attaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(attaching.error).toHaveProperty('cause.message', expect.stringContaining('Too few replicas'));
  });
});
