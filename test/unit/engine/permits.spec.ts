import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { sharedGrant, taken } from './scripted-store.js';

const TWO = { mode: 'shared', ttl: 30_000, limit: 4, permits: 2 } as const;
const ONE = { ...TWO, permits: 1 } as const;

let fixture: EngineFixture;
beforeEach(() => (fixture = new EngineFixture()));

const enter = (options: LockOptions = TWO) => observe(fixture.acquire(options));

/** A hold of two permits, with tokens from 200 on, and its turn. */
const granted = async () => {
  const holding = enter();
  const asked = await fixture.store.next('acquire');
  const turn = asked.request.shared?.turn ?? '';
  asked.answer(sharedGrant(turn, 200, 2));
  await settle();
  return { hold: holding.value, turn };
};

describe('A call for several permits', () => {
  it('asks for all of them in one turn with the others that take as many', async () => {
    const holding = [enter(), enter(), enter(ONE)];
    const asked = await fixture.store.next('acquire');
    const turn = asked.request.shared?.turn ?? '';
    expect([asked.request.tokens, turn]).toEqual([4, expect.stringMatching(/^s02p/)]);
    asked.answer(sharedGrant(turn, 200, 4));
    await settle();

    expect(holding.map(({ value }) => value?.fencingToken)).toEqual([200, 202, undefined]);
    expect(holding.map(({ value }) => value?.permits)).toEqual([2, 2, undefined]);
    expect((await fixture.store.next('acquire')).request.shared?.turn).toMatch(/^s02t/);
  });

  it('returns parts of a hold that an earlier version grants, leaves its place, and asks again', async () => {
    const holding = enter();
    const asked = await fixture.store.next('acquire');
    asked.answer(taken(100));
    await settle();
    const turn = asked.request.shared?.turn ?? '';
    fixture.events.granted('n', sharedGrant(turn, 200, 1), 3_000);
    await settle();

    expect((await fixture.store.next('cancel')).request.place).toMatch(new RegExp(`\\|1\\|${turn}X1\\|4$`));
    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
    const again = await fixture.store.next('acquire');
    const next = again.request.shared?.turn ?? '';
    expect(next).not.toBe(turn);
    again.answer(sharedGrant(next, 300, 2));
    await settle();
    expect(holding.value?.fencingToken).toBe(300);
  });

  it('returns the others if one was revoked before the grant was known', async () => {
    const holding = enter();
    const asked = await fixture.store.next('acquire');
    const turn = asked.request.shared?.turn ?? '';
    fixture.events.revoked('n', `me~${turn}:2`);
    asked.answer(sharedGrant(turn, 200, 2));
    await settle();

    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
    expect(holding).toEqual({});
  });

  it('does not pass them on in memory, nor is passed a single one', async () => {
    const { hold, turn } = await granted();
    const [single, behind] = [enter(ONE), enter()];
    void hold?.release();
    const freed = [await fixture.store.next('release'), await fixture.store.next('release')];

    expect(freed.map(({ request }) => request.owner)).toEqual([`me~${turn}:1`, `me~${turn}:2`]);
    expect([single, behind]).toEqual([{}, {}]);
  });
});

describe('A hold of several permits', () => {
  it('is renewed in one request, and lost with its first lost permit', async () => {
    const { hold, turn } = await granted();
    await fixture.clock.advance(10_000);
    const renewal = await fixture.store.next('extend');
    expect(renewal.request.map(({ owner }) => owner)).toEqual([`me~${turn}:1`, `me~${turn}:2`]);
    renewal.answer([true, false]);
    await settle();

    expect(hold?.held).toBe(false);
    expect(hold?.signal.reason).toBeInstanceOf(LockLostError);
    void hold?.release();
    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
  });

  it('is extended in one request', async () => {
    const { hold } = await granted();
    const extending = observe(hold?.extend(60_000) ?? Promise.reject(new Error('not held')));
    const extension = await fixture.store.next('extend');
    expect(extension.request.map(({ ttl }) => ttl)).toEqual([60_000, 60_000]);
    extension.answer([true, true]);
    await settle();

    expect(extending).toEqual({ value: undefined });
    expect(hold?.remaining).toBeGreaterThan(59_000);
  });

  it('is listed once', async () => {
    await granted();

    expect(fixture.engine.views.holds()).toMatchObject([{ permits: 2, fencingToken: 200 }]);
  });

  it('continues if no permit could be detached', async () => {
    const { hold } = await granted();
    const leaving = observe(hold?.detach() ?? Promise.reject(new Error('not held')));
    for (const move of [await fixture.store.next('transfer'), await fixture.store.next('transfer')])
      move.fail(new Error('refused'));
    await settle();

    expect(leaving.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(hold?.held).toBe(true);
  });

  it('is lost if only some permits could be detached, which are released', async () => {
    const { hold } = await granted();
    const leaving = observe(hold?.detach() ?? Promise.reject(new Error('not held')));
    const moves = [await fixture.store.next('transfer'), await fixture.store.next('transfer')];
    moves[0]?.answer(true);
    moves[1]?.fail(new Error('refused'));
    await settle();

    expect(leaving.error).toBeInstanceOf(LockLostError);
    expect(hold?.held).toBe(false);
    expect((await fixture.store.next('release')).request.owner).toBe(moves[0]?.request.to);
  });
});
