import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { shares } from './scripted-store.js';

const TWO = { mode: 'shared', ttl: 30_000, limit: 4, permits: 2 } as const;
const ONE = { ...TWO, permits: 1 } as const;

let fixture: EngineFixture;
beforeEach(() => (fixture = new EngineFixture()));

const enter = (options: LockOptions = TWO) => observe(fixture.acquire(options));

/** A hold of two permits, with the token 200. */
const granted = async () => {
  const holding = enter();
  await fixture.store.answer('share', shares('s2of4', 200));
  return holding.value;
};

describe('A call for several permits', () => {
  it('asks for all of them in one bid with the others that take as many', async () => {
    const holding = [enter(), enter(), enter(ONE)];
    const asked = await fixture.store.next('share');
    expect(asked.request).toMatchObject({ holds: 2, terms: { permits: 2, limit: 4 } });
    await asked.answer(shares('s2of4', 200, { holds: 2 }));

    expect(holding.map(({ value }) => value?.fencingToken)).toEqual([200, 201, undefined]);
    expect(holding.map(({ value }) => value?.permits)).toEqual([2, 2, undefined]);
    expect((await fixture.store.next('share')).request.terms).toEqual({ permits: 1, limit: 4 });
  });

  it('passes them on in memory only to callers that take as many', async () => {
    const holding = enter();
    await fixture.store.answer('share', shares('s2of4', 200, { tokens: 8 }));
    const [behind, single] = [enter(), enter(ONE)];
    await settle();
    void holding.value?.release();
    await settle();
    expect(behind.value?.fencingToken).toBe(201);
    void behind.value?.release();
    await settle();

    expect((await fixture.store.next('release')).request.owner).toBe('me~s2of4:200');
    expect(single).toEqual({});
  });
});

describe('A hold of several permits', () => {
  it('is one lease: renewed, extended and detached as one, and listed once', async () => {
    const hold = await granted();
    const owner = 'me~s2of4:200';
    await fixture.clock.advance(10_000);
    const renewal = await fixture.store.next('extend');
    expect(renewal.request).toMatchObject([{ owner, ttl: 30_000 }]);
    await renewal.answer([true]);
    expect(fixture.engine.holds()).toMatchObject([{ permits: 2, fencingToken: 200 }]);
    const leaving = observe(hold?.detach() ?? Promise.reject(new Error('not held')));
    const move = await fixture.store.next('transfer');
    expect(move.request).toMatchObject({
      from: owner,
      to: expect.stringMatching(/^me~s2x[0-9a-f]{32}:200$/),
    });
    await move.answer(true);

    expect(leaving.value).toMatch(/^lock1\./);
    expect(fixture.engine.leases.size).toBe(0);
  });
});
