import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { StoreRefusal, TooFewReplicas } from '../../../lib/store/store-errors.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { grant, noShares, sharedGrants, shares, taken } from './scripted-store.js';

const READ = { mode: 'shared', ttl: 30_000 } as const;

let fixture: EngineFixture;
beforeEach(() => (fixture = new EngineFixture()));

/** Readers of which the first one's request is under way. */
const asking = async (...callers: LockOptions[]) => {
  const holds = callers.map((options) => observe(fixture.acquire(options)));
  return { holds, asked: await fixture.store.next('share') };
};

/** Readers who wait in the queue of the store, where all grants up to token 100 were made before. */
const waiting = async (...callers: LockOptions[]) => {
  const { holds, asked } = await asking(...callers);
  await asked.answer(noShares(100));
  return holds;
};

/** Hands over so many holds of readers. */
const handOff = async (token: number, holds = 1, tag = 's1'): Promise<void> => {
  fixture.events.granted('n', sharedGrants(tag, token, holds), 3_000);
  await settle();
};

it('A request for shared holds names no exclusive ones that have ended', async () => {
  const { store } = fixture;
  const { holds, asked } = await asking(READ);
  await asked.answer(shares('s1', 200));
  for (const token of [300, 400]) {
    const writer = observe(fixture.acquire());
    await store.answer('acquire', grant(token));
    void writer.value?.release();
    await store.next('release');
  }
  observe(fixture.acquire(READ));

  expect(holds[0]?.value?.held).toBe(true);
  expect((await store.next('share')).request.known).toEqual([]);
});

describe('A bid for shared holds', () => {
  it('counts each hold of a hand-off from when the request was sent that last found it waiting', async () => {
    const holds = await waiting(READ, READ, READ);
    await handOff(200, 3);

    for (const { value } of holds) {
      expect(value?.held).toBe(true);
      expect(value?.remaining).toBeLessThanOrEqual(3_000);
    }
  });

  it('renews a hold of a hand-off at once, although its claim lease is as long as the caller wants', async () => {
    await waiting({ ...READ, ttl: 3_000 });
    fixture.events.granted('n', sharedGrants('s1', 200), 3_000);
    await fixture.clock.advance(1);

    expect(fixture.store.unseen('extend')).toBe(1);
  });

  it('adopts the holds that a lost reply granted, and asks for them with the same words', async () => {
    const { store } = fixture;
    const { holds, asked } = await asking(READ, READ);
    await asked.fail(new Error('no answer'));
    await fixture.clock.advance(50);
    const again = await store.next('share');
    expect(again.request).toEqual(asked.request);
    await again.answer(shares('s1', 200, { holds: 2 }));

    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([200, 201]);
  });

  it('names the holds that began and ended since the last reply, and ignores them in the next one', async () => {
    const { store } = fixture;
    const holds = await waiting({ ...READ, limit: 3 }, { ...READ, limit: 3 }, { ...READ, limit: 3 });
    await handOff(200, 1, 's1of3');
    await handOff(300, 1, 's1of3');
    await fixture.clock.advance(20);
    void holds[0]?.value?.release();
    expect((await store.next('release')).request.owner).toBe('me~s1of3:200');
    await fixture.clock.advance(1_000);
    const again = await store.next('share');
    expect(again.request).toMatchObject({ holds: 1, since: 100 });
    expect(new Set(again.request.known)).toEqual(new Set([200, 300]));
    await again.answer({ ...shares('s1of3', 300, { behind: true }), tokenFloor: 400 });

    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([200, 300, undefined]);
    expect(holds[1]?.value?.held).toBe(true);
    expect(store.unseen('release')).toBe(0);
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
      const tagOf = ({ limit }: LockOptions): string => (limit === undefined ? 's1' : `s1of${limit}`);
      const answer = async (wanted: LockOptions, token: number): Promise<void> => {
        if (wanted.mode === 'shared') await store.answer('share', shares(tagOf(wanted), token));
        else await store.answer('acquire', grant(token));
      };
      const holds = [{ ...left, signal: aborter.signal }, next].map((each) => observe(fixture.acquire(each)));
      await settle();
      aborter.abort();
      await answer(left, 200);

      expect(holds[1]).toEqual({});
      expect((await store.next('release')).request.owner).toBe(
        left.mode === 'shared' ? `me~${tagOf(left)}:200` : 'me:200',
      );
      await answer(next, 300);
      expect(holds[1]?.value).toMatchObject({ fencingToken: 300, mode: next.mode ?? 'exclusive' });
    },
  );

  it('is left, with its possible grants, when the next caller has other terms', async () => {
    const { store } = fixture;
    const aborter = new AbortController();
    const holds = await waiting({ ...READ, signal: aborter.signal }, {});
    aborter.abort();
    const cancelled = await store.next('cancel');
    const asked = await store.next('acquire');

    expect(cancelled.request).toMatchObject({ place: 'me|3000|1|s1', shared: { since: 100 } });
    await handOff(200);
    expect((await store.next('release')).request.owner).toBe('me~s1:200');
    await cancelled.answer(['me~s1:300']);
    expect((await store.next('release')).request.owner).toBe('me~s1:300');
    await asked.answer(grant(300));
    expect(holds[1]?.value?.mode).toBe('exclusive');
  });

  it('is left although it did not queue, when the outcome of its request is unknown', async () => {
    fixture.store.hears = false;
    const aborter = new AbortController();
    const { asked } = await asking({ ...READ, signal: aborter.signal });
    await asked.fail(new Error('no answer'));
    aborter.abort();

    expect((await fixture.store.next('cancel')).request.place).toContain('|s1');
  });

  it('that has ended is granted nothing by a late message', async () => {
    const holds = await waiting(READ, READ);
    await handOff(200, 2);
    void holds[0]?.value?.release();
    expect((await fixture.store.next('release')).request.owner).toBe('me~s1:200');
    await handOff(200, 2);
    await handOff(300);

    expect((await fixture.store.next('release')).request.owner).toBe('me~s1:300');
    expect(fixture.store.unseen('release')).toBe(0);
    expect(holds[1]?.value).toMatchObject({ held: true, fencingToken: 201 });
  });

  it('confirms a grant with a short remaining lease before a caller holds', async () => {
    const { store, clock } = fixture;
    const holds = await waiting(READ, READ);
    clock.skip(2_500);
    fixture.events.granted('n', sharedGrants('s1', 200, 2), 3_000);
    const confirmation = await store.next('share');
    await settle();
    expect(holds).toEqual([{}, {}]);
    expect(confirmation.request).toMatchObject({ holds: 2, since: 100, known: [] });
    await confirmation.answer(shares('s1', 200, { holds: 2 }));

    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([200, 201]);
    for (const { value } of holds) expect(value?.remaining).toBeGreaterThan(29_000);
  });

  it.each([
    ['to its request', false],
    ['that follows a grant of a hand-off', true],
  ])(
    'gives no hold to a caller that requires more replicas than the reply %s has',
    async (_, isHandedOff) => {
      const { store } = fixture;
      const one = { replicas: { min: 1, timeout: 50 } };
      const aborter = new AbortController();
      const { holds, asked } = await asking(
        { ...READ, ...one },
        { ...READ, ...one, signal: aborter.signal },
        { ...READ, replicas: { min: 2, timeout: 50 } },
      );
      aborter.abort();
      if (isHandedOff) await handOff(300);
      await asked.answer(shares('s1', 200, { holds: 2 }));

      expect(holds[0]?.value?.held).toBe(true);
      expect(holds[2]).toEqual({});
      expect((await store.next('release')).request.owner).toBe('me~s1:201');
      expect((await store.next('share')).request.replicas).toMatchObject({ min: 2 });
    },
  );

  it('leaves its place again when it blocks others without a local waiter', async () => {
    const aborter = new AbortController();
    const holds = [observe(fixture.acquire({ signal: aborter.signal })), observe(fixture.acquire(READ))];
    await fixture.store.answer('acquire', taken(100));
    aborter.abort();
    const { request, fail } = await fixture.store.next('cancel');
    await fail(new Error('no answer'));
    const asked = await fixture.store.next('share');
    await asked.answer(noShares(100));
    fixture.events.askedIfWaiting('n', request.place ?? '');
    expect((await fixture.store.next('cancel')).request.place).toEqual(request.place);
    fixture.events.askedIfWaiting('n', asked.request.place ?? '');

    expect(fixture.store.unseen('cancel')).toBe(0);
    fixture.events.askedIfWaiting('other', 'me|3000|1');
    expect((await fixture.store.next('cancel')).request.name).toBe('other');
    expect(holds[1]).toEqual({});
  });

  it('loses one hold by a forced release without the others', async () => {
    const { holds, asked } = await asking(READ, READ);
    await asked.answer(shares('s1', 200, { holds: 2 }));
    fixture.events.revoked('n', 'me~s1:201');

    expect(holds.map(({ value }) => value?.held)).toEqual([true, false]);
    void holds[1]?.value?.release();
    void holds[0]?.value?.release();
    expect((await fixture.store.next('release')).request.owner).toBe('me~s1:200');
    expect(fixture.engine.size).toBe(0);
  });
});

describe('The rest of a limited bid', () => {
  const PERMIT = { mode: 'shared', limit: 5, ttl: 30_000 } as const;
  const TAG = 's1of5';
  const place = (holds: number): string => `me|3000|${holds}|${TAG}`;
  const tokensOf = (holds: { value?: { fencingToken: number } }[]): (number | undefined)[] =>
    holds.map(({ value }) => value?.fencingToken);

  it('asks again at its usual time, with its own place', async () => {
    const { store, clock } = fixture;
    await waiting(PERMIT, PERMIT, PERMIT);
    await clock.advance(600);
    await handOff(200, 1, TAG);
    await clock.advance(399);
    expect(store.unseen('share')).toBe(0);
    await clock.advance(1);
    const { request } = await store.next('share');

    expect(request).toMatchObject({ holds: 2, place: place(2), since: 100, known: [200] });
  });

  it('is granted while an answer is under way, in which older grants are listed or have ended', async () => {
    const { store, clock } = fixture;
    const holds = await waiting(PERMIT, PERMIT, PERMIT, PERMIT);
    await clock.advance(1_000);
    const again = await store.next('share');
    for (const token of [200, 220, 300]) await handOff(token, 1, TAG);
    expect(tokensOf(holds)).toEqual([undefined, undefined, undefined, undefined]);
    const { holds: found } = shares(TAG, 220);
    await again.answer({ ...noShares(250), holds: found });

    expect(tokensOf(holds)).toEqual([220, 300, undefined, undefined]);
    expect(store.unseen('release')).toBe(0);
    await handOff(400, 2, TAG);
    expect(tokensOf(holds)).toEqual([220, 300, 400, 401]);
    expect(store.unseen('share')).toBe(0);
  });

  it('is left when its callers leave, and the holds before it continue', async () => {
    const { store } = fixture;
    const aborter = new AbortController();
    const impatient = { ...PERMIT, signal: aborter.signal };
    const holds = await waiting(PERMIT, impatient, impatient);
    await handOff(200, 1, TAG);
    aborter.abort();
    const { request, answer } = await store.next('cancel');
    expect(request).toMatchObject({ place: place(2), shared: { since: 100 } });
    await answer(['me~s1of5:200', 'me~s1of5:300']);

    expect((await store.next('release')).request.owner).toBe('me~s1of5:300');
    expect(holds[0]?.value?.held).toBe(true);
    expect(store.unseen('release')).toBe(0);
  });

  it('is left before grants beyond the remaining callers are released', async () => {
    const { store, clock } = fixture;
    const aborter = new AbortController();
    const impatient = { ...PERMIT, signal: aborter.signal };
    const holds = await waiting(PERMIT, impatient, impatient, impatient);
    await clock.advance(1_000);
    const again = await store.next('share');
    aborter.abort();
    await again.answer(shares(TAG, 200, { holds: 2, behind: true }));

    expect(store.unseen('cancel')).toBe(1);
    expect((await store.next('cancel')).request.place).toBe(place(2));
    expect((await store.next('release')).request.owner).toBe('me~s1of5:201');
    expect(tokensOf(holds)).toEqual([200, undefined, undefined, undefined]);
  });

  it('refuses attempts that came meanwhile: no permit is left', async () => {
    await waiting(PERMIT, PERMIT);
    await fixture.clock.advance(1_000);
    const again = await fixture.store.next('share');
    const attempt = observe(fixture.acquire({ ...PERMIT, wait: 0 }));
    await handOff(200, 1, TAG);
    await again.answer(noShares(150));

    expect(attempt.error).toBeInstanceOf(LockTimeoutError);
  });

  it('is not left when its place blocks others, whatever its number', async () => {
    const { store } = fixture;
    await waiting(PERMIT, PERMIT, PERMIT);
    await handOff(200, 1, TAG);
    for (const holds of [1, 2, 3]) fixture.events.askedIfWaiting('n', place(holds));
    expect(store.unseen('cancel')).toBe(0);
    fixture.events.askedIfWaiting('n', 'me|3000|1|s1of4');
    expect(store.unseen('cancel')).toBe(1);
  });

  it('holds nothing that was taken away before it was known', async () => {
    const { store, clock } = fixture;
    const holds = await waiting(PERMIT, PERMIT);
    await clock.advance(1_000);
    const again = await store.next('share');
    await handOff(200, 1, TAG);
    fixture.events.revoked('n', 'me~s1of5:200');
    await handOff(300, 1, TAG);
    await again.answer(noShares(150));

    expect(tokensOf(holds)).toEqual([300, undefined]);
    expect((await store.next('share')).request).toMatchObject({ holds: 1 });
  });

  it('also ends when too few replicas confirmed a part', async () => {
    const { store, clock } = fixture;
    const replicas = { min: 1, timeout: 50 };
    const holds = await waiting({ ...PERMIT, replicas }, { ...PERMIT, replicas }, PERMIT);
    await clock.advance(1_000);
    const again = await store.next('share');
    await again.fail(new TooFewReplicas(sharedGrants(TAG, 200), replicas));
    expect((await store.next('cancel')).request.place).toBe(place(2));
    const freed = await store.next('release');
    expect(freed.request.owner).toBe('me~s1of5:200');
    expect(holds[0]?.error).toBeUndefined();
    await freed.answer(true);

    expect(holds.map(({ error }) => error)).toMatchObject([
      { code: 'LOCK_UNAVAILABLE' },
      { code: 'LOCK_UNAVAILABLE' },
      undefined,
    ]);
    expect((await store.next('share')).request).toMatchObject({ holds: 1, known: [200] });
  });

  it('leaves the queue although the store rejects its requests', async () => {
    const { store, clock } = fixture;
    const { holds, asked } = await asking(PERMIT, PERMIT);
    await asked.answer(shares(TAG, 200, { behind: true }));
    await clock.advance(1_000);
    await store.fail('share', new StoreRefusal('NOPERM'));

    expect(holds[1]?.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect((await store.next('cancel')).request.place).toBe(place(1));
  });
});
