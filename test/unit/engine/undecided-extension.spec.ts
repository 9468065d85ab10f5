import { LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';

describe('An extension with an undecided outcome', () => {
  it('rejects the caller’s call, and costs it no hold', async () => {
    const fixture = new EngineFixture();
    const { store } = fixture;
    const hold = await fixture.hold({ ttl: 3_000 });
    const extended = observe(hold.extend(5_000));
    (await store.next('extend')).answer([undefined]);
    await settle();

    expect(extended.error).toBeInstanceOf(LockUnavailableError);
    expect(hold.held).toBe(true);
  });

  it('does not lose a name that is kept for minHold', async () => {
    const fixture = new EngineFixture();
    const { clock, store } = fixture;
    const hold = await fixture.hold({ minHold: 1_000 });
    const released = hold.release();
    (await store.next('extend')).answer([undefined]);
    await released;

    expect(fixture.engine.keeper.size).toBe(0);
    await clock.advance(1_000);
    (await store.next('release')).answer(true);
    await settle();
    expect(fixture.engine.size).toBe(0);
  });
});
