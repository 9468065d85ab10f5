import type { LockOptions } from '../../../lib/interfaces/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { grant, sharedGrant, taken } from './scripted-store.js';

const READ = { mode: 'shared', ttl: 30_000 } as const;

describe('A turn for shared holds', () => {
  let fixture: EngineFixture;
  beforeEach(() => (fixture = new EngineFixture()));

  /** Callers of which the first one's request is under way. */
  const asking = async (...callers: LockOptions[]) => {
    const holds = callers.map((options) => observe(fixture.acquire(options)));
    const asked = await fixture.store.next('acquire');
    return { holds, asked, turn: asked.request.shared?.turn ?? '' };
  };

  /** Callers who wait in the queue of the store, where all grants up to token 100 were made before. */
  const waiting = async (...callers: LockOptions[]) => {
    const { holds, asked, turn } = await asking(...callers);
    asked.answer(taken(100));
    await settle();
    return { holds, turn };
  };

  it('asks for as many holds as alike callers wait at the head, and grants one to each', async () => {
    const { store } = fixture;
    const { holds, asked } = await asking(READ, READ);
    asked.answer(taken(100));
    await settle();
    const more = [READ, { ...READ, limit: 3 }, {}].map((options) => observe(fixture.acquire(options)));
    await fixture.clock.advance(1_000);
    const again = await store.next('acquire');
    expect(again.request).toMatchObject({ tokens: 3, shared: asked.request.shared });
    again.answer(sharedGrant(asked.request.shared?.turn ?? '', 200, 3));
    await settle();

    expect([...holds, more[0]].map((hold) => hold?.value?.fencingToken)).toEqual([200, 201, 202]);
    expect(more.slice(1)).toEqual([{}, {}]);
    const next = await store.next('acquire');
    expect(next.request).toMatchObject({ tokens: 1, shared: { limit: 3 } });
    expect(next.request.shared?.turn).not.toBe(asked.request.shared?.turn);
  });

  it('counts each hold of a hand-off from when the request was sent that last found it waiting', async () => {
    const { holds, turn } = await waiting(READ, READ, READ);
    fixture.events.granted('n', sharedGrant(turn, 200, 3), 3_000);
    await settle();

    for (const { value } of holds) {
      expect(value?.held).toBe(true);
      expect(value?.remaining).toBeLessThanOrEqual(3_000);
    }
    const renewals = [1, 2, 3].map(() => fixture.store.next('extend'));
    const owners = await Promise.all(renewals.map(async (each) => (await each).request[0]?.owner));
    expect(owners).toEqual([1, 2, 3].map((n) => `me~${turn}:${n}`));
  });

  it('gives what was granted beyond the callers that are left back, hold by hold', async () => {
    const aborter = new AbortController();
    const { holds, asked, turn } = await asking(READ, { ...READ, signal: aborter.signal });
    aborter.abort();
    asked.answer(sharedGrant(turn, 200, 2));
    await settle();
    const { request } = await fixture.store.next('release');

    expect(holds[0]?.value?.held).toBe(true);
    expect(request.owner).toBe(`me~${turn}:2`);
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('does not give a hold that had others before it the token of those', async () => {
    const { holds, asked, turn } = await asking(READ, READ);
    asked.answer(sharedGrant(turn, 200, 1));
    await settle();
    const next = await fixture.store.next('acquire');
    next.answer(sharedGrant(next.request.shared?.turn ?? '', 300, 1));
    await settle();

    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([200, 300]);
    expect(new Set(holds.map(({ value }) => value?.lease.owner)).size).toBe(2);
  });

  it.each<[string, LockOptions, LockOptions]>([
    ['a writer', { ttl: 5_000 }, READ],
    ['a reader', READ, { ttl: 5_000 }],
    ['a reader with a limit', { ...READ, limit: 2 }, READ],
    ['a single attempt to write', { wait: 0 }, READ],
    ['a single attempt to read', { ...READ, wait: 0 }, {}],
  ])(
    'is not used by another kind of caller when %s gives up while its request is under way',
    async (_, left, next) => {
      const { store } = fixture;
      const aborter = new AbortController();
      const { holds, asked, turn } = await asking({ ...left, signal: aborter.signal }, next);
      aborter.abort();
      asked.answer(left.mode === 'shared' ? sharedGrant(turn, 200) : grant(200));
      await settle();

      expect(holds[1]).toEqual({});
      expect((await store.next('release')).request.owner).toBe(
        asked.request.shared ? `me~${turn}:1` : 'me:200',
      );
      const again = await store.next('acquire');
      expect(again.request.shared === undefined).toBe(next.mode !== 'shared');
      const granted = again.request.shared ? sharedGrant(again.request.shared.turn, 300) : grant(300);
      again.answer(granted);
      await settle();
      expect(holds[1]?.value).toMatchObject({ fencingToken: 300, mode: next.mode ?? 'exclusive' });
    },
  );

  it('is left, with what it may have been granted, when the next caller is of another kind', async () => {
    const { store } = fixture;
    const aborter = new AbortController();
    const { holds, turn } = await waiting({ ...READ, signal: aborter.signal }, {});
    aborter.abort();
    const cancelled = await store.next('cancel');
    const asked = await store.next('acquire');

    expect(cancelled.request.place).toMatch(new RegExp(`^me\\|3000\\|1\\|${turn}\\|$`));
    expect(asked.request.shared).toBeUndefined();
    fixture.events.granted('n', sharedGrant(turn, 200), 3_000);
    expect((await store.next('release')).request.owner).toBe(`me~${turn}:1`);
    asked.answer(grant(300));
    await settle();
    expect(holds[1]?.value?.mode).toBe('exclusive');
  });

  it('is left although it did not queue, when nobody knows what became of its request', async () => {
    fixture.store.hears = false;
    const aborter = new AbortController();
    const { asked, turn } = await asking({ ...READ, signal: aborter.signal });
    asked.fail(new Error('no answer'));
    await settle();
    aborter.abort();

    expect((await fixture.store.next('cancel')).request.place).toContain(`|${turn}|`);
  });

  it('that is over is granted nothing by a message that comes late', async () => {
    const { holds, turn } = await waiting(READ, READ);
    fixture.events.granted('n', sharedGrant(turn, 200, 2), 3_000);
    await settle();
    void holds[0]?.value?.release();
    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
    fixture.events.granted('n', sharedGrant(turn, 300, 2), 3_000);
    await settle();

    // What the message speaks of beyond the hold that goes on may be there indeed.
    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
    expect(fixture.store.unseen('release')).toBe(0);
    expect(holds[1]?.value).toMatchObject({ held: true, fencingToken: 201 });
  });

  it('of another kind gives back what a message for the turn before it brings', async () => {
    const aborter = new AbortController();
    const { turn } = await waiting({ ...READ, signal: aborter.signal }, { ...READ, limit: 4 });
    aborter.abort();
    const asked = await fixture.store.next('acquire');
    fixture.events.granted('n', sharedGrant(turn, 200), 3_000);

    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
    expect(asked.request.shared?.turn).not.toBe(turn);
  });

  it('confirms a grant with too little left of its lease before anybody holds', async () => {
    const { store, clock } = fixture;
    const { holds, turn } = await waiting(READ, READ);
    await clock.freeze(2_500);
    fixture.events.granted('n', sharedGrant(turn, 200, 2), 3_000);
    const confirmation = await store.next('acquire');
    await settle();
    expect(holds).toEqual([{}, {}]);
    expect(confirmation.request).toMatchObject({ tokens: 2, shared: { turn } });
    confirmation.answer(sharedGrant(turn, 300, 2));
    await settle();

    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([300, 301]);
    for (const { value } of holds) expect(value?.remaining).toBeGreaterThan(29_000);
  });

  it('holds nothing that was taken away before it was known, and asks again for that', async () => {
    const { store } = fixture;
    const { holds, asked, turn } = await asking(READ, READ);
    fixture.events.revoked('n', `me~${turn}:1`);
    asked.answer(sharedGrant(turn, 200, 2));
    await settle();
    const again = await store.next('acquire');

    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([201, undefined]);
    expect(again.request.shared?.turn).not.toBe(turn);
  });

  it('asks again with a turn of its own where all of it was taken away before it was known', async () => {
    const { asked, holds, turn } = await asking(READ);
    fixture.events.revoked('n', `me~${turn}:1`);
    asked.answer(sharedGrant(turn, 200));
    const again = await fixture.store.next('acquire');
    again.answer(sharedGrant(again.request.shared?.turn ?? '', 300));
    await settle();

    expect(again.request.shared?.turn).not.toBe(turn);
    expect(holds[0]?.value?.fencingToken).toBe(300);
  });

  it('gives no hold to a caller who wants more replicas to know of it', async () => {
    const { store } = fixture;
    const one = { replicas: { min: 1, timeout: 50 } };
    const aborter = new AbortController();
    const { holds, asked, turn } = await asking(
      { ...READ, ...one },
      { ...READ, ...one, signal: aborter.signal },
      { ...READ, replicas: { min: 2, timeout: 50 } },
    );
    aborter.abort();
    asked.answer({ ...sharedGrant(turn, 200, 2), replicas: 1 });
    await settle();

    expect(holds[0]?.value?.held).toBe(true);
    expect(holds[2]).toEqual({});
    expect((await store.next('release')).request.owner).toBe(`me~${turn}:2`);
    expect((await store.next('acquire')).request.replicas).toMatchObject({ min: 2 });
  });

  it('leaves its place again when somebody is kept waiting by it and nobody waits there', async () => {
    const aborter = new AbortController();
    const holds = [observe(fixture.acquire({ signal: aborter.signal })), observe(fixture.acquire(READ))];
    (await fixture.store.next('acquire')).answer(taken(100));
    await settle();
    aborter.abort();
    const { request, fail } = await fixture.store.next('cancel');
    fail(new Error('no answer'));
    const asked = await fixture.store.next('acquire');
    asked.answer(taken(100));
    await settle();
    fixture.events.probed('n', request.place);
    expect((await fixture.store.next('cancel')).request).toEqual(request);
    fixture.events.probed('n', asked.request.place ?? '');

    expect(fixture.store.unseen('cancel')).toBe(0);
    fixture.events.probed('other', 'me|3000|1');
    expect((await fixture.store.next('cancel')).request.name).toBe('other');
    expect(holds[1]).toEqual({});
  });

  it('keeps its holds when it hears only then that its place had kept somebody waiting', async () => {
    const { holds, turn } = await waiting(READ, READ);
    fixture.events.granted('n', sharedGrant(turn, 200, 2), 3_000);
    await settle();
    void holds[0]?.value?.release();
    fixture.events.probed('n', `me|3000|1|${turn}|`);
    expect(fixture.store.unseen('cancel')).toBe(0);
    void holds[1]?.value?.release();
    fixture.events.probed('n', `me|3000|1|${turn}|`);

    expect(fixture.store.unseen('cancel')).toBe(1);
  });

  it('loses one hold by force without the others', async () => {
    const { holds, asked, turn } = await asking(READ, READ);
    asked.answer(sharedGrant(turn, 200, 2));
    await settle();
    fixture.events.revoked('n', `me~${turn}:2`);

    expect(holds.map(({ value }) => value?.held)).toEqual([true, false]);
    void holds[1]?.value?.release();
    void holds[0]?.value?.release();
    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
    expect(fixture.engine.size).toBe(0);
  });
});
