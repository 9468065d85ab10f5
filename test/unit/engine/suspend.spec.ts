import { EngineFixture, observe } from './engine-fixture.js';

const HOUR = 3_600_000;

describe('After the machine has slept through a lease', () => {
  it('a renewal that was sent before does not bring the hold back', async () => {
    const { clock, hold, store } = await heldFixture();
    await clock.advance(8_000);
    const renewal = await store.next('extend');
    clock.sleep(HOUR);
    await renewal.answer([true, true]);

    expect(hold.held).toBe(false);
    expect(hold.signal.aborted).toBe(true);
  });

  it('a hold with a running lease is kept, and renewed at once if that is due', async () => {
    const { clock, hold, store } = await heldFixture();
    clock.sleep(12_000);
    await clock.advance(1_000);
    await store.answer('extend', [true, true]);

    expect(hold.held).toBe(true);
    expect(hold.remaining).toBeGreaterThan(29_000);
  });

  it('nothing looks at the clock any more once the holds are released', async () => {
    const { clock, engine, hold, other, store } = await heldFixture();
    for (const each of [hold, other]) {
      const released = each.release();
      await store.answer('release', true);
      await released;
    }
    await clock.advance(30_000);

    expect(engine.leases.size).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

describe('Many holds', () => {
  it('need no more timers than one', async () => {
    const fixture = new EngineFixture();
    await fixture.hold({}, { name: 'first' });
    const { pending } = fixture.clock;
    for (let i = 1; i <= 100; i++) await fixture.hold({}, { name: `n${i}`, token: 100 + i });

    expect(pending).toBeGreaterThan(0);
    expect(fixture.clock.pending).toBe(pending);
  });
});

describe('A reply that arrives after the deadline', () => {
  it('of a renewal revives no hold whose end was not detected yet', async () => {
    const { clock, hold, store } = await heldFixture();
    await clock.advance(8_000);
    const renewal = await store.next('extend');
    clock.skip(20_000);
    expect(hold.held).toBe(false);
    await renewal.answer([true, true]);

    expect(hold.held).toBe(false);
    expect(hold.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
  });

  it('of an extension is a lost hold to its caller', async () => {
    const { clock, hold, store } = await heldFixture();
    const extended = observe(hold.extend(HOUR));
    const extension = await store.next('extend');
    clock.skip(30_000);
    await extension.answer([true]);

    expect(extended.error).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
    expect(hold.held).toBe(false);
    expect(hold.signal.aborted).toBe(true);
  });
});

/** Two holds of 30 s, of names of their own. */
async function heldFixture() {
  const fixture = new EngineFixture();
  const { clock, engine, store } = fixture;
  const hold = await fixture.hold({}, { name: 'n' });
  const other = await fixture.hold({}, { name: 'other', token: 200 });
  // The watch for an outage has rung then, and nothing else will before the renewals.
  await clock.advance(2_000);
  return { clock, engine, store, hold, other };
}
