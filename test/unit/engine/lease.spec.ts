import { Lease } from '../../../lib/engine/hold/lease.js';
import { LeaseKeeper } from '../../../lib/engine/hold/lease-keeper.js';
import { SuspendWatch } from '../../../lib/engine/hold/suspend-watch.js';
import type { Extended, Extension } from '../../../lib/store/lock-store.js';
import { ManualClock, settle } from './manual-clock.js';

const lease = (): Lease => new Lease('n', { owner: 'me:1', token: 1, tokens: 1 }, 9_000, 1_000);

describe('The request that leaves a lease unchanged', () => {
  it.each([1_000, 4_000, 9_000, 9_900])('leaves its end as it is, at %d ms', (now) => {
    const kept = lease();
    const { deadline } = kept;
    const { exact } = kept.request(kept.rest(now), now);

    expect(exact).toBe(false);
    expect(kept.deadline).toBeCloseTo(deadline, 6);
  });

  it('has the end that was requested last', () => {
    const kept = lease();
    kept.request(20_000, 2_000);
    const asked = kept.rest(3_000);
    // One per cent and 2 ms of each are for clocks that differ: 2,000 + 20,000 − 202 = 3,000 + asked − asked / 100 − 2.
    expect(asked).toBeCloseTo(18_800 / 0.99, 6);
  });

  it('is never nothing', () => {
    expect(lease().rest(60_000)).toBe(1);
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

describe('A renewal of several names', () => {
  let clock: ManualClock;
  let keeper: LeaseKeeper;
  let both: Lease;
  let asked: (readonly Extension[])[];

  /** Renews a lease of two names, and answers the first request so. */
  const renew = async (...reply: readonly Extended[]): Promise<void> => {
    clock = new ManualClock();
    asked = [];
    const extend = (batch: readonly Extension[]): Promise<readonly Extended[]> =>
      Promise.resolve(asked.push(batch) === 1 ? reply : [1, 1]);
    keeper = new LeaseKeeper(clock, { extend }, () => undefined);
    both = new Lease('a', { owner: 'me:1', token: 1, tokens: 1 }, 9_000, clock.now());
    both.together = ['a', 'b'];
    keeper.add(both);
    await clock.advance(3_000);
    await settle();
  };

  afterEach(() => keeper.stop());

  it('requests less at once if the server keeps one of them for too long', async () => {
    await renew(1, 60_000);
    await clock.advance(1);

    expect(asked.map((batch) => batch.map(({ name, exact }) => [name, exact]))).toEqual([
      [
        ['a', false],
        ['b', false],
      ],
      [
        ['a', true],
        ['b', true],
      ],
    ]);
  });

  it('confirms nothing if too few servers confirm one of them, and asks again soon', async () => {
    const before = 1_000 + 9_000 - 92;
    await renew(1, undefined);
    expect(both.deadline).toBe(before);
    await clock.advance(499);
    expect(asked).toHaveLength(1);
    await clock.advance(1);

    expect(asked).toHaveLength(2);
    expect(both.deadline).toBeGreaterThan(before);
  });
});

describe('The watch for a suspend', () => {
  it('has one timer, however many holds begin', () => {
    const clock = new ManualClock();
    const watch = new SuspendWatch(
      clock,
      () => true,
      () => undefined,
    );
    for (let i = 0; i < 100; i++) watch.start();

    expect(clock.pending).toBe(1);
  });
});
