import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { sharedGrant } from './scripted-store.js';

const TWO = { mode: 'shared', ttl: 30_000, limit: 4, permits: 2 } as const;
const ONE = { ...TWO, permits: 1 } as const;

let fixture: EngineFixture;
beforeEach(() => (fixture = new EngineFixture()));

const enter = (options: LockOptions = TWO) => observe(fixture.acquire(options));

/** A hold of two permits, with the token 200, and its turn. */
const granted = async () => {
  const holding = enter();
  const asked = await fixture.store.next('acquire');
  const turn = asked.request.shared?.turn ?? '';
  asked.answer(sharedGrant(turn, 200, 1));
  await settle();
  return { hold: holding.value, turn };
};

describe('A call for several permits', () => {
  it('asks for all of them in one turn with the others that take as many', async () => {
    const holding = [enter(), enter(), enter(ONE)];
    const asked = await fixture.store.next('acquire');
    const turn = asked.request.shared?.turn ?? '';
    expect([asked.request.tokens, turn]).toEqual([2, expect.stringMatching(/^s02p/)]);
    asked.answer(sharedGrant(turn, 200, 2));
    await settle();

    expect(holding.map(({ value }) => value?.fencingToken)).toEqual([200, 201, undefined]);
    expect(holding.map(({ value }) => value?.permits)).toEqual([2, 2, undefined]);
    expect((await fixture.store.next('acquire')).request.shared?.turn).toMatch(/^s2$/);
  });

  it('passes them on in memory only to callers that take as many', async () => {
    const holding = enter();
    const asked = await fixture.store.next('acquire');
    const turn = asked.request.shared?.turn ?? '';
    asked.answer(sharedGrant(turn, 200, 1, 8));
    await settle();
    const [behind, single] = [enter(), enter(ONE)];
    await settle();
    void holding.value?.release();
    await settle();
    expect(behind.value?.fencingToken).toBe(201);
    void behind.value?.release();
    await settle();

    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
    expect(single).toEqual({});
  });
});

describe('A hold of several permits', () => {
  it('is one lease: renewed, extended and detached as one, and listed once', async () => {
    const { hold, turn } = await granted();
    const owner = `me~${turn}:1`;
    await fixture.clock.advance(10_000);
    const renewal = await fixture.store.next('extend');
    expect(renewal.request).toMatchObject([{ owner, ttl: 30_000 }]);
    renewal.answer([true]);
    await settle();
    expect(fixture.engine.views.holds()).toMatchObject([{ permits: 2, fencingToken: 200 }]);
    const leaving = observe(hold?.detach() ?? Promise.reject(new Error('not held')));
    const move = await fixture.store.next('transfer');
    expect(move.request).toMatchObject({
      from: owner,
      to: expect.stringMatching(/^me~s02p[0-9a-f]{32}:200$/),
    });
    move.answer(true);
    await settle();

    expect(leaving.value).toMatch(/^lock1\./);
    expect(fixture.engine.keeper.size).toBe(0);
  });
});
