import { Lease } from '../../../lib/engine/hold/lease.js';
import { LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { grant, shares } from './scripted-store.js';

const lease = (): Lease => new Lease('n', { owner: 'me:1', token: 1, tokens: 1 }, 9_000, 1_000);

describe('The request that leaves a lease unchanged', () => {
  it.each([1_000, 4_000, 9_000, 9_900])('leaves its end as it is, at %d ms', (now) => {
    const kept = lease();
    const { deadline } = kept;
    const { exact } = kept.request(kept.remainder(now), now);

    expect(exact).toBe(false);
    expect(kept.deadline).toBeCloseTo(deadline, 6);
  });

  it('has the end that was requested last', () => {
    const kept = lease();
    kept.request(20_000, 2_000);
    const asked = kept.remainder(3_000);
    // One per cent and 2 ms of each are for clocks that differ: 2,000 + 20,000 − 202 = 3,000 + asked − asked / 100 − 2.
    expect(asked).toBeCloseTo(18_800 / 0.99, 6);
  });

  it('is never undefined', () => {
    expect(lease().remainder(60_000)).toBe(1);
  });
});

describe('A request for a lease', () => {
  it.each([
    [0, false],
    [1, false],
    [2, true],
  ])('that ends %d ms before the one that is kept is exact: %p', (earlier, exact) => {
    // Of each ms that is asked for, one per cent is for clocks that differ.
    expect(lease().request(9_000 - earlier / 0.99, 1_000).exact).toBe(exact);
  });
});

describe('A request that shortens a lease', () => {
  it('leaves no fencing token for a later hold', () => {
    const shared = new Lease('n', { owner: 'me~s1:1', token: 1, tokens: 9 }, 9_000, 1_000);
    expect(shared.hasTokens).toBe(true);
    shared.request(3_000, 1_000);

    expect(shared.hasTokens).toBe(false);
  });
});

describe('The confirmation of a request for a lease', () => {
  it('counts on a shorter request of the same millisecond, which follows in the store', () => {
    const kept = lease();
    kept.request(9_000, 2_000);
    kept.request(3_000, 2_000);
    const { deadline } = kept;
    kept.confirm(9_000, 2_000, 1);

    expect(kept.deadline).toBe(deadline);
  });

  it('does not expect a shorter request a second time after its confirmation', () => {
    const kept = lease();
    kept.request(9_000, 2_000);
    kept.request(3_000, 2_100);
    kept.confirm(3_000, 2_100, 1);
    kept.request(9_000, 4_000);
    kept.confirm(9_000, 4_000, 1);

    expect(kept.deadline).toBe(4_000 + 9_000 - 92);
  });

  it('still expects an earlier request with the same ttl, which was shorter than the lease', () => {
    const kept = new Lease('n', { owner: 'me:1', token: 1, tokens: 1 }, 3_600, 1_000);
    expect(kept.request(3_000, 1_000).exact).toBe(true);
    expect(kept.request(3_000, 2_000).exact).toBe(false);
    kept.confirm(3_000, 2_000, 1);
    kept.request(9_000, 3_000);
    kept.confirm(9_000, 3_000, 1);

    expect(kept.deadline).toBe(3_000 + 3_000 - 32);
  });
});

describe('The end of maxHold', () => {
  it('keeps no lease of a hold that the listener of another one has released', async () => {
    const fixture = new EngineFixture();
    const options = { mode: 'shared', maxHold: 500 } as const;
    const first = fixture.acquire(options, 'a');
    const second = fixture.acquire(options, 'b');
    for (const token of [100, 200]) {
      await fixture.store.answer('share', shares('s1', token));
    }
    const holds = await Promise.all([first, second]);
    holds[0].signal.addEventListener('abort', () => holds.forEach((hold) => void hold.release()));
    await fixture.clock.advance(500);
    for (let i = 0; i < 2; i++) await fixture.store.answer('release', true);

    expect([fixture.engine.size, fixture.engine.leases.size]).toEqual([0, 0]);
  });
});

describe('A lease that the store keeps for longer than requested', () => {
  it('is shortened at once, and no hold uses its owner id after that', async () => {
    const fixture = new EngineFixture();
    const { clock, store } = fixture;
    const hold = await fixture.hold({ ttl: 3_000 }, { tokens: 10 });
    await clock.advance(1_000);
    const renewal = await store.next('extend');
    expect(renewal.request).toMatchObject([{ ttl: 3_000, exact: false }]);
    await renewal.answer([60_000]);
    await clock.advance(0);
    const second = await store.next('extend');
    expect(second.request).toMatchObject([{ ttl: 3_000, exact: true }]);
    await second.answer([1]);
    await clock.advance(1_000);
    expect((await store.next('extend')).request).toMatchObject([{ exact: false }]);

    const next = observe(fixture.acquire({}));
    void hold.release();
    await store.answer('yield', grant(200));
    expect(next.value?.fencingToken).toBe(200);
  });

  it('is shortened after the extension of a caller', async () => {
    const fixture = new EngineFixture();
    const { clock, store } = fixture;
    const hold = await fixture.hold({ ttl: 3_000 });
    const extended = observe(hold.extend(2_000));
    await store.answer('extend', [1]);
    const again = observe(hold.extend(2_000));
    await store.answer('extend', [60_000]);
    await clock.advance(0);

    expect((await store.next('extend')).request).toMatchObject([{ ttl: 2_000, exact: true }]);
    expect([extended.error, again.error]).toEqual([undefined, undefined]);
  });
});

describe('An extension with an undecided outcome', () => {
  it('rejects the caller’s call, and costs it no hold', async () => {
    const fixture = new EngineFixture();
    const { store } = fixture;
    const hold = await fixture.hold({ ttl: 3_000 });
    const extended = observe(hold.extend(5_000));
    await store.answer('extend', [undefined]);

    expect(extended.error).toBeInstanceOf(LockUnavailableError);
    expect(hold.held).toBe(true);
  });

  it('does not lose a name that is kept for minHold', async () => {
    const fixture = new EngineFixture();
    const { clock, store } = fixture;
    const hold = await fixture.hold({ minHold: 1_000 });
    const released = hold.release();
    await store.answer('extend', [undefined]);
    await released;

    expect(fixture.engine.leases.size).toBe(0);
    await clock.advance(1_000);
    await store.answer('release', true);
    expect(fixture.engine.size).toBe(0);
  });
});
