import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { StoreRefusal, TooFewReplicas } from '../../../lib/store/store-errors.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { grant, sharedGrant, taken } from './scripted-store.js';

const READ = { mode: 'shared', ttl: 30_000 } as const;

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

describe('A turn for shared holds', () => {
  it('requests one hold for each caller with equal terms at the head', async () => {
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
  });

  it('renews all holds of a hand-off with one request', async () => {
    const { turn } = await waiting(READ, READ, READ);
    fixture.events.granted('n', sharedGrant(turn, 200, 3), 3_000);
    await fixture.clock.advance(1);

    const { request } = await fixture.store.next('extend');
    expect(request.map(({ owner }) => owner)).toEqual([1, 2, 3].map((n) => `me~${turn}:${n}`));
    expect(fixture.store.unseen('extend')).toBe(0);
  });

  it('renews a hold of a hand-off at once, although its claim lease is as long as the caller wants', async () => {
    const { turn } = await waiting({ ...READ, ttl: 3_000 });
    fixture.events.granted('n', sharedGrant(turn, 200), 3_000);
    await fixture.clock.advance(1);

    expect(fixture.store.unseen('extend')).toBe(1);
  });

  it('releases grants beyond the remaining callers, hold by hold', async () => {
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

  it('does not give a hold the token of earlier holds', async () => {
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

  it('is left, with its possible grants, when the next caller has other terms', async () => {
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

  it('is left although it did not queue, when the outcome of its request is unknown', async () => {
    fixture.store.hears = false;
    const aborter = new AbortController();
    const { asked, turn } = await asking({ ...READ, signal: aborter.signal });
    asked.fail(new Error('no answer'));
    await settle();
    aborter.abort();

    expect((await fixture.store.next('cancel')).request.place).toContain(`|${turn}|`);
  });

  it('that has ended is granted nothing by a late message', async () => {
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

  it('with other terms releases the grant of a message for the previous turn', async () => {
    const aborter = new AbortController();
    const { turn } = await waiting({ ...READ, signal: aborter.signal }, { ...READ, limit: 4 });
    aborter.abort();
    const asked = await fixture.store.next('acquire');
    fixture.events.granted('n', sharedGrant(turn, 200), 3_000);

    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
    expect(asked.request.shared?.turn).not.toBe(turn);
  });

  it('confirms a grant with a short remaining lease before a caller holds', async () => {
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

  it('holds nothing that was released forcibly before it was known, and asks again', async () => {
    const { store } = fixture;
    const { holds, asked, turn } = await asking(READ, READ);
    fixture.events.revoked('n', `me~${turn}:1`);
    asked.answer(sharedGrant(turn, 200, 2));
    await settle();
    const again = await store.next('acquire');

    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([201, undefined]);
    expect(again.request.shared?.turn).not.toBe(turn);
  });

  it('asks again with a new turn if all of it was released forcibly before it was known', async () => {
    const { asked, holds, turn } = await asking(READ);
    fixture.events.revoked('n', `me~${turn}:1`);
    asked.answer(sharedGrant(turn, 200));
    const again = await fixture.store.next('acquire');
    again.answer(sharedGrant(again.request.shared?.turn ?? '', 300));
    await settle();

    expect(again.request.shared?.turn).not.toBe(turn);
    expect(holds[0]?.value?.fencingToken).toBe(300);
  });

  it('gives no hold to a caller that requires more replicas', async () => {
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

  it('leaves its place again when it blocks others without a local waiter', async () => {
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
    fixture.events.askedIfWaiting('n', request.place ?? '');
    expect((await fixture.store.next('cancel')).request).toEqual(request);
    fixture.events.askedIfWaiting('n', asked.request.place ?? '');

    expect(fixture.store.unseen('cancel')).toBe(0);
    fixture.events.askedIfWaiting('other', 'me|3000|1');
    expect((await fixture.store.next('cancel')).request.name).toBe('other');
    expect(holds[1]).toEqual({});
  });

  it('keeps its holds when it learns only then that its place blocked others', async () => {
    const { holds, turn } = await waiting(READ, READ);
    fixture.events.granted('n', sharedGrant(turn, 200, 2), 3_000);
    await settle();
    void holds[0]?.value?.release();
    fixture.events.askedIfWaiting('n', `me|3000|1|${turn}|`);
    expect(fixture.store.unseen('cancel')).toBe(0);
    void holds[1]?.value?.release();
    fixture.events.askedIfWaiting('n', `me|3000|1|${turn}|`);

    expect(fixture.store.unseen('cancel')).toBe(1);
  });

  it('loses one hold by a forced release without the others', async () => {
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

describe('The rest of a limited turn', () => {
  const PERMIT = { mode: 'shared', limit: 5, ttl: 30_000 } as const;
  const handOff = async (turn: string, token: number, tokens = 1): Promise<void> => {
    fixture.events.granted('n', sharedGrant(turn, token, tokens), 3_000);
    await settle();
  };
  const tokensOf = (holds: { value?: { fencingToken: number } }[]): (number | undefined)[] =>
    holds.map(({ value }) => value?.fencingToken);

  it('continues to wait without a request, and each message serves the next caller', async () => {
    const { holds, turn } = await waiting(PERMIT, PERMIT, PERMIT, PERMIT);
    await handOff(turn, 200, 2);
    expect(tokensOf(holds)).toEqual([200, 201, undefined, undefined]);
    await handOff(`${turn}X2`, 300);
    await handOff(`${turn}X3`, 400);

    expect(tokensOf(holds)).toEqual([200, 201, 300, 400]);
    expect(new Set(holds.map(({ value }) => value?.lease.owner)).size).toBe(4);
    expect(fixture.store.unseen('acquire')).toBe(0);
    const next = await asking(PERMIT);
    expect(next.turn).not.toContain(turn);
  });

  it('asks again at its usual time, with its own place', async () => {
    const { store, clock } = fixture;
    const { turn } = await waiting(PERMIT, PERMIT, PERMIT);
    await clock.advance(600);
    await handOff(turn, 200);
    await clock.advance(399);
    expect(store.unseen('acquire')).toBe(0);
    await clock.advance(1);
    const { request } = await store.next('acquire');

    expect(request).toMatchObject({ tokens: 2, place: `me|3000|2|${turn}X1|5` });
    expect(request.shared).toEqual({ limit: 5, turn: `${turn}X1` });
  });

  it('is requested at once if a reply granted a part whose message may be lost', async () => {
    const { store } = fixture;
    const { holds, asked, turn } = await asking(PERMIT);
    holds.push(observe(fixture.acquire(PERMIT)), observe(fixture.acquire(PERMIT)));
    asked.answer(taken(100));
    await settle();
    await fixture.clock.advance(1_000);
    const again = await store.next('acquire');
    // The place was for one, so what comes in excess of it is a turn of its own.
    again.answer(sharedGrant(turn, 200, 1));
    const others = await store.next('acquire');
    expect(others.request.shared?.turn).not.toContain(turn);
    others.answer(sharedGrant(others.request.shared?.turn ?? '', 300, 1));
    const rest = await store.next('acquire');

    expect(rest.request.place).toBe(`me|3000|1|${others.request.shared?.turn}X1|5`);
    expect(tokensOf(holds)).toEqual([200, 300, undefined]);
  });

  it('has its grant confirmed when the one before it went unheard', async () => {
    const { store } = fixture;
    const { holds, turn } = await waiting(PERMIT, PERMIT, PERMIT);
    await handOff(`${turn}X1`, 300, 2);
    const again = await store.next('acquire');
    expect(again.request.shared?.turn).toBe(turn);
    expect(tokensOf(holds)).toEqual([undefined, undefined, undefined]);
    again.answer(sharedGrant(turn, 400, 1));
    const rest = await store.next('acquire');
    expect(rest.request.shared?.turn).toBe(`${turn}X1`);
    rest.answer(sharedGrant(`${turn}X1`, 500, 2));
    await settle();

    expect(tokensOf(holds)).toEqual([400, 500, 501]);
    expect(store.unseen('release')).toBe(0);
  });

  it('is granted while an answer is under way that found an earlier part still waiting', async () => {
    const { store, clock } = fixture;
    const { holds, turn } = await waiting(PERMIT, PERMIT, PERMIT, PERMIT);
    await clock.advance(1_000);
    const again = await store.next('acquire');
    await handOff(turn, 200);
    await handOff(`${turn}X1`, 300, 2);
    expect(tokensOf(holds)).toEqual([undefined, undefined, undefined, undefined]);
    again.answer(taken(150));
    await settle();

    expect(tokensOf(holds)).toEqual([200, 300, 301, undefined]);
    expect(store.unseen('release')).toBe(0);
    await handOff(`${turn}X3`, 400);
    expect(tokensOf(holds)).toEqual([200, 300, 301, 400]);
    expect(store.unseen('acquire')).toBe(0);
  });

  it('is left if the part before it expired unnoticed', async () => {
    const { store, clock } = fixture;
    const { holds, turn } = await waiting(PERMIT, PERMIT, PERMIT);
    await clock.advance(1_000);
    const again = await store.next('acquire');
    await handOff(`${turn}X1`, 200);
    again.answer(taken(150));

    expect((await store.next('cancel')).request.place).toBe(`me|3000|3|${turn}|5`);
    expect((await store.next('release')).request.owner).toBe(`me~${turn}X1:1`);
    const fresh = await store.next('acquire');
    expect(fresh.request.shared?.turn).not.toContain(turn);
    expect(tokensOf(holds)).toEqual([undefined, undefined, undefined]);
  });

  it('is left when its callers leave, and the holds before it continue', async () => {
    const { store } = fixture;
    const aborter = new AbortController();
    const impatient = { ...PERMIT, signal: aborter.signal };
    const { holds, turn } = await waiting(PERMIT, impatient, impatient);
    await handOff(turn, 200);
    aborter.abort();

    expect((await store.next('cancel')).request.place).toBe(`me|3000|2|${turn}X1|5`);
    await handOff(`${turn}X1`, 300);
    expect((await store.next('release')).request.owner).toBe(`me~${turn}X1:1`);
    expect(holds[0]?.value?.held).toBe(true);
  });

  it('is left before grants beyond the remaining callers are released', async () => {
    const { store, clock } = fixture;
    const aborter = new AbortController();
    const impatient = { ...PERMIT, signal: aborter.signal };
    const { holds, turn } = await waiting(PERMIT, impatient, impatient, impatient);
    await clock.advance(1_000);
    const again = await store.next('acquire');
    aborter.abort();
    again.answer(sharedGrant(turn, 200, 2));
    await settle();

    expect(store.unseen('cancel')).toBe(1);
    expect((await store.next('cancel')).request.place).toBe(`me|3000|2|${turn}X2|5`);
    expect((await store.next('release')).request.owner).toBe(`me~${turn}:2`);
    expect(tokensOf(holds)).toEqual([200, undefined, undefined, undefined]);
  });

  it('ends with the grant that no caller wants', async () => {
    const { store } = fixture;
    const aborter = new AbortController();
    const impatient = { ...PERMIT, signal: aborter.signal };
    const { asked, turn } = await asking(impatient, impatient);
    asked.answer(taken(100));
    await settle();
    await fixture.clock.advance(1_000);
    const again = await store.next('acquire');
    aborter.abort();
    again.answer(sharedGrant(turn, 200));
    await settle();

    expect((await store.next('cancel')).request.place).toBe(`me|3000|2|${turn}|5`);
    expect(store.unseen('release')).toBe(0);
    expect(fixture.engine.size).toBe(0);
  });

  it('serves callers that arrive while it waits, and further ones ask again', async () => {
    const { store } = fixture;
    const aborter = new AbortController();
    const { holds, turn } = await waiting(PERMIT, PERMIT, { ...PERMIT, signal: aborter.signal });
    await handOff(turn, 200);
    holds.push(observe(fixture.acquire(PERMIT)), observe(fixture.acquire(PERMIT)));
    aborter.abort();
    await handOff(`${turn}X1`, 300, 2);

    expect(tokensOf(holds)).toEqual([200, 300, undefined, 301, undefined]);
    const { request } = await store.next('acquire');
    expect(request.tokens).toBe(1);
    expect(request.shared?.turn).not.toContain(turn);
  });

  it('gives way to a caller with other terms when its own callers have left', async () => {
    const { store } = fixture;
    const aborter = new AbortController();
    const { turn } = await waiting(PERMIT, { ...PERMIT, signal: aborter.signal }, {});
    await handOff(turn, 200);
    aborter.abort();

    expect((await store.next('cancel')).request.place).toBe(`me|3000|1|${turn}X1|5`);
    expect((await store.next('acquire')).request.shared).toBeUndefined();
  });

  it('refuses attempts that came meanwhile: no permit is left', async () => {
    const { turn } = await waiting(PERMIT, PERMIT);
    await fixture.clock.advance(1_000);
    const again = await fixture.store.next('acquire');
    const attempt = observe(fixture.acquire({ ...PERMIT, wait: 0 }));
    await handOff(turn, 200);
    again.answer(taken(150));
    await settle();

    expect(attempt.error).toBeInstanceOf(LockTimeoutError);
  });

  it('is not left when any part of it blocks others', async () => {
    const { store } = fixture;
    const { holds, turn } = await waiting(PERMIT, PERMIT, PERMIT);
    await handOff(turn, 200);
    for (const place of [`me|3000|3|${turn}|5`, `me|3000|2|${turn}X1|5`, `me|3000|1|${turn}X2|5`])
      fixture.events.askedIfWaiting('n', place);
    expect(store.unseen('cancel')).toBe(0);
    await handOff(`${turn}X1`, 300, 2);
    void holds[1]?.value?.release();
    void holds[2]?.value?.release();
    fixture.events.askedIfWaiting('n', `me|3000|2|${turn}X1|5`);

    // The hold of an earlier part does not need it.
    expect(store.unseen('cancel')).toBe(1);
    fixture.events.askedIfWaiting('n', `me|3000|3|${turn}|5`);
    expect(store.unseen('cancel')).toBe(1);
  });

  it('holds nothing that was taken away before it was known', async () => {
    const { store, clock } = fixture;
    const { holds, turn } = await waiting(PERMIT, PERMIT);
    await clock.advance(1_000);
    const again = await store.next('acquire');
    await handOff(turn, 200);
    fixture.events.revoked('n', `me~${turn}:1`);
    await handOff(`${turn}X1`, 300);
    again.answer(taken(150));
    await settle();

    expect(tokensOf(holds)).toEqual([300, undefined]);
    expect((await store.next('acquire')).request).toMatchObject({ tokens: 1 });
  });

  it('also ends when too few replicas confirmed a part', async () => {
    const { store, clock } = fixture;
    const replicas = { min: 1, timeout: 50 };
    const { holds, turn } = await waiting({ ...PERMIT, replicas }, { ...PERMIT, replicas }, PERMIT);
    await clock.advance(1_000);
    const again = await store.next('acquire');
    again.fail(new TooFewReplicas(sharedGrant(turn, 200), replicas));
    const cancelled = await store.next('cancel');
    expect(cancelled.request.place).toBe(`me|3000|2|${turn}|5`);
    expect(holds[0]?.error).toBeUndefined();
    cancelled.answer(undefined);
    await settle();

    expect(holds.map(({ error }) => error)).toMatchObject([
      { code: 'LOCK_UNAVAILABLE' },
      { code: 'LOCK_UNAVAILABLE' },
      undefined,
    ]);
    expect((await store.next('acquire')).request.shared?.turn).not.toContain(turn);
  });

  it('leaves the queue although the store rejects its requests', async () => {
    const { store } = fixture;
    const { holds, asked, turn } = await asking(PERMIT, PERMIT);
    await settle();
    asked.answer(sharedGrant(turn, 200));
    const rest = await store.next('acquire');
    rest.fail(new StoreRefusal('NOPERM'));
    await settle();

    expect(holds[1]?.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect((await store.next('cancel')).request.place).toBe(`me|3000|1|${turn}X1|5`);
  });
});
