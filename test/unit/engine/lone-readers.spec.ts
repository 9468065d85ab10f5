import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { StoreRefusal } from '../../../lib/store/store-errors.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { sharedGrant, taken } from './scripted-store.js';

const READ = { mode: 'shared', ttl: 30_000 } as const;

let fixture: EngineFixture;
beforeEach(() => (fixture = new EngineFixture()));

const enter = (options: LockOptions) => observe(fixture.acquire(options));
const release = async (hold: ReturnType<typeof enter> | undefined) => {
  const done = observe((hold?.value?.release() ?? Promise.reject(new Error('not held'))).then(() => true));
  await settle();
  return done;
};
/** A writer with tokens 100 to 109 for itself and those behind it has released. */
const behindWriter = async (...options: LockOptions[]) => {
  const writer = fixture.acquire({ ttl: 30_000 });
  const holds = options.map(enter);
  (await fixture.store.next('acquire')).answer({ owner: 'me:100', token: 100, tokens: 10 });
  await settle();
  void (await writer).release();
  await settle();
  return holds;
};
/** A tick later its reader is still inside. */
const asked = async () => {
  await fixture.clock.advance(1);
  return fixture.store.next('share');
};

describe('A reader behind a writer of its instance', () => {
  it('gets the lock in memory, and so does who comes after it, whatever the mode', async () => {
    const writer = fixture.acquire({ ttl: 30_000 });
    const seen = [READ, READ, { ttl: 30_000 }].map(async (options) => {
      const hold = await fixture.acquire(options);
      const { fencingToken, mode } = hold;
      if (mode === 'shared') await hold.release();
      return [fencingToken, mode];
    });
    (await fixture.store.next('acquire')).answer({ owner: 'me:100', token: 100, tokens: 10 });
    await (await writer).release();

    expect(await Promise.all(seen)).toEqual([
      [101, 'shared'],
      [102, 'shared'],
      [103, 'exclusive'],
    ]);
    await fixture.clock.advance(1);
    expect(fixture.store.unseen('share')).toBe(0);
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it.each([
    [9, 'yield', { tokens: 10 }],
    [10, 'release', {}],
  ] as const)(
    'goes on past handoff.max to a writer, by a quarter at most: %i readers, %s',
    async (readers, call, asksFor) => {
      fixture = new EngineFixture({ max: 8 });
      const writer = fixture.acquire({ ttl: 30_000 });
      for (let i = 0; i < readers; i++) void fixture.acquire(READ).then((hold) => hold.release());
      const next = [enter({ ttl: 30_000 }), enter({ ttl: 30_000 })];
      (await fixture.store.next('acquire')).answer({ owner: 'me:100', token: 100, tokens: 20 });
      void (await writer).release();

      const { request } = await fixture.store.next(call);
      expect(request).toMatchObject({ owner: 'me:100', ...asksFor });
      expect(next).toEqual([{}, {}]);
    },
  );

  it.each<[string, LockOptions]>([
    ['a permit', { ...READ, limit: 3 }],
    ['a reader with minHold', { ...READ, minHold: 10 }],
    ['a reader that asks for replicas', { ...READ, replicas: { min: 1, timeout: 10 } }],
  ])('is asked for in the store where it is %s', async (_, options) => {
    const [hold] = await behindWriter(options);

    expect((await fixture.store.next('release')).request.owner).toBe('me:100');
    expect((await fixture.store.next('acquire')).request.shared).toBeDefined();
    expect(hold).toEqual({});
  });

  it('that stays shares the lock with those behind it and with other instances, by one request', async () => {
    const [first, second, writer, third] = await behindWriter(READ, READ, { ttl: 30_000 }, READ);
    const { request, answer } = await asked();
    expect(request).toMatchObject({ name: 'n', owner: 'me:100', ttl: 30_000, tokens: 2 });
    expect(second).toEqual({});
    answer(sharedGrant(request.shared.turn, 500, 2));
    await settle();

    expect(first?.value?.lease.owner).toBe(`me~${request.shared.turn}:1`);
    expect(first?.value?.fencingToken).toBe(101);
    expect(second?.value?.lease.owner).toBe(`me~${request.shared.turn}:2`);
    expect([writer, third]).toEqual([{}, {}]);
    (await fixture.store.next('acquire')).answer(taken(600));
    await release(first);
    expect((await fixture.store.next('release')).request.owner).toBe(`me~${request.shared.turn}:1`);
  });

  describe('and behind others that have read before it', () => {
    beforeEach(() => (fixture = new EngineFixture({ window: 1_000 })));
    const quick = async () => (await fixture.acquire(READ)).release();
    /** So many readers were done at once, another one stayed, and then a writer had the lock that a reader waits for. */
    const behindReaders = async (done: number) => {
      const writer = fixture.acquire({ ttl: 30_000 });
      const fast = Array.from({ length: done }, quick);
      const [slow, next, last] = [READ, { ttl: 30_000 }, READ].map(enter);
      (await fixture.store.next('acquire')).answer({ owner: 'me:100', token: 100, tokens: 10 });
      await (await writer).release();
      await Promise.all(fast);
      const { request, answer } = await asked();
      answer(sharedGrant(request.shared.turn, 200));
      const { answer: grant } = await fixture.store.next('acquire');
      void release(slow);
      (await fixture.store.next('release')).answer(true);
      grant({ owner: 'me:300', token: 300, tokens: 10 });
      await settle();
      return { next, last };
    };

    it('is asked for in the store where these stayed', async () => {
      const { next, last } = await behindReaders(0);
      await release(next);
      expect((await fixture.store.next('release')).request.owner).toBe('me:300');
      const { request, answer } = await fixture.store.next('acquire');
      answer(sharedGrant(request.shared?.turn ?? '', 400));
      await settle();

      expect(last?.value?.fencingToken).toBe(400);
    });

    it.each([
      ['few of these stayed', 2, 0],
      ['it is long since they stayed', 0, 100],
    ])('gets the lock in memory where %s', async (_, done, later) => {
      const { next, last } = await behindReaders(done);
      await fixture.clock.advance(later);
      await release(next);

      expect(last?.value?.fencingToken).toBe(301);
    });
  });

  it('that leaves before the answer gives its new lease back, and the others theirs when nobody waits', async () => {
    const waiting = new AbortController();
    const [first] = await behindWriter(READ, { ...READ, signal: waiting.signal });
    const { request, answer } = await asked();
    const done = await release(first);
    waiting.abort();
    expect(fixture.store.unseen('release')).toBe(0);
    answer(sharedGrant(request.shared.turn, 500, 2));
    await settle();

    const freed = [await fixture.store.next('release'), await fixture.store.next('release')];
    expect(freed.map((each) => each.request.owner).toSorted()).toEqual(
      [1, 2].map((n) => `me~${request.shared.turn}:${n}`),
    );
    for (const each of freed) each.answer(true);
    await settle();
    expect(done.value).toBe(true);
    expect(fixture.engine.size).toBe(0);
  });

  it('releases both owner ids where no answer comes', async () => {
    const [first] = await behindWriter(READ);
    const { request } = await asked();
    const done = await release(first);
    await fixture.clock.advance(1_000);
    const one = await fixture.store.next('release');
    expect(one.request.owner).toBe('me:100');
    expect(fixture.store.unseen('cancel')).toBe(0);
    one.answer(false);
    const other = await fixture.store.next('cancel');
    expect(other.request.place).toContain(`|${request.shared.turn}|`);
    other.answer(undefined);
    await settle();

    expect(done.value).toBe(true);
    expect(fixture.engine.size).toBe(0);
  });

  it('keeps its name for a minHold that it was given later, whether an answer comes or not', async () => {
    const begun = async (): Promise<Awaited<ReturnType<typeof asked>>> => {
      const [first] = await behindWriter(READ);
      const sharing = await asked();
      const hold = first?.value ?? (await fixture.hold());
      fixture.engine.begin(hold, { ...hold.options, minHold: 5_000 });
      const done = await release(first);
      await fixture.clock.advance(1_000);
      expect(fixture.store.unseen('release')).toBe(0);
      expect(done.value).toBe(true);
      return sharing;
    };
    await begun();
    await fixture.clock.advance(3_900);
    expect(fixture.store.unseen('release')).toBe(0);
    await fixture.clock.advance(200);
    expect((await fixture.store.next('release')).request.owner).toBe('me:100');

    fixture = new EngineFixture();
    const { request, answer } = await begun();
    answer(sharedGrant(request.shared.turn, 500));
    await fixture.clock.advance(1_100);
    const parked = await fixture.store.next('extend');
    expect(parked.request[0]).toMatchObject({ owner: `me~${request.shared.turn}:1`, exact: true });
    parked.answer([true]);
    await fixture.clock.advance(2_800);
    expect(fixture.store.unseen('release')).toBe(0);
    await fixture.clock.advance(200);
    expect((await fixture.store.next('release')).request.owner).toBe(`me~${request.shared.turn}:1`);
  });

  it('is lost where the answer comes when its lease is over, and what that granted is given back', async () => {
    const [first] = await behindWriter(READ);
    const { request, answer } = await asked();
    await fixture.clock.advance(30_000);
    expect(first?.value?.signal.aborted).toBe(true);
    expect(fixture.store.unseen('release')).toBe(0);
    answer(sharedGrant(request.shared.turn, 500));
    const one = await fixture.store.next('release');
    expect(one.request.owner).toBe('me:100');
    one.answer(false);

    expect((await fixture.store.next('cancel')).request.place).toContain(`|${request.shared.turn}|`);
  });

  it('is not lost because a renewal finds the lock another owner id’s', async () => {
    const [first] = await behindWriter(READ);
    const { request, answer } = await asked();
    await fixture.clock.advance(10_000);
    (await fixture.store.next('extend')).answer([0]);
    await settle();
    expect(first?.value?.held).toBe(true);
    answer(sharedGrant(request.shared.turn, 500));
    await settle();

    expect(first?.value?.held).toBe(true);
    expect(first?.value?.signal.aborted).toBe(false);
  });

  it('is lost when the store knows neither owner id', async () => {
    const [first] = await behindWriter(READ);
    (await asked()).answer(undefined);
    await settle();

    expect(first?.value?.signal.aborted).toBe(true);
  });

  it.each(['me:100', 'turn'])('is lost when %s is taken away by force before the answer', async (whose) => {
    const [first] = await behindWriter(READ);
    const { request, answer } = await asked();
    const { turn } = request.shared;
    fixture.events.revoked('n', whose === 'turn' ? `me~${turn}:1` : whose);
    expect(first?.value?.signal.aborted).toBe(true);
    answer(sharedGrant(turn, 500));
    await settle();

    // Should the answer be older than that.
    expect((await fixture.store.next('release')).request.owner).toBe('me:100');
  });

  it('asks again for what failed, and goes on alone where it is refused', async () => {
    const [first, second] = await behindWriter(READ, READ);
    (await asked()).fail(new Error('LOADING'));
    await settle();
    await fixture.clock.advance(50);
    const again = await fixture.store.next('share');
    again.answer(sharedGrant(again.request.shared.turn, 500, 2));
    await settle();
    expect([first, second].map((hold) => hold?.value?.held)).toEqual([true, true]);

    fixture = new EngineFixture();
    const [reader, writer] = await behindWriter(READ, { ttl: 30_000 });
    (await asked()).fail(new StoreRefusal('NOPERM'));
    await settle();
    await release(reader);
    expect(writer?.value?.fencingToken).toBe(102);
  });

  it('asks once a second where a refusal follows what failed, for the store may have shared the lock', async () => {
    const [first] = await behindWriter(READ);
    (await asked()).fail(new Error('The connection was lost.'));
    await settle();
    await fixture.clock.advance(50);
    (await fixture.store.next('share')).fail(new StoreRefusal('NOPERM'));
    await settle();
    await fixture.clock.advance(500);
    expect(fixture.store.unseen('share')).toBe(0);
    const extended = observe((first?.value ?? (await fixture.hold())).extend());
    await settle();
    (await fixture.store.next('share')).fail(new StoreRefusal('NOPERM'));
    await settle();
    expect(extended.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await fixture.clock.advance(900);
    expect(fixture.store.unseen('share')).toBe(0);
    expect(first?.value?.held).toBe(true);
    await fixture.clock.advance(100);
    const { request, answer } = await fixture.store.next('share');
    answer(sharedGrant(request.shared.turn, 500));
    await settle();

    expect(first?.value?.lease.owner).toBe(`me~${request.shared.turn}:1`);
  });

  it('asks no more when its instance was shut down', async () => {
    await behindWriter(READ);
    const { fail } = await asked();
    fixture.engine.beginShutdown();
    fail(new Error('The connection was closed.'));
    await fixture.clock.advance(1_000);

    expect(fixture.store.unseen('share')).toBe(0);
  });

  it('is extended under the owner id that it has by then', async () => {
    const [first] = await behindWriter(READ);
    const { request, answer } = await asked();
    const extended = observe((first?.value ?? (await fixture.hold())).extend(60_000));
    await settle();
    expect(fixture.store.unseen('extend')).toBe(0);
    answer(sharedGrant(request.shared.turn, 500));
    const extension = await fixture.store.next('extend');
    extension.answer([true]);
    await settle();

    expect(extension.request[0]?.owner).toBe(`me~${request.shared.turn}:1`);
    expect(extended.error).toBeUndefined();
    expect(first?.value?.remaining).toBeGreaterThan(50_000);
  });

  it('is detached as a shared hold, at any time', async () => {
    const [first] = await behindWriter(READ);
    void first?.value?.detach();
    const { request, answer } = await fixture.store.next('share');
    answer(sharedGrant(request.shared.turn, 500));
    const { request: change } = await fixture.store.next('transfer');

    expect(change.from).toBe(`me~${request.shared.turn}:1`);
    expect(change.to).toMatch(/^me~s[0-9a-f]+:101$/);
  });

  it('ends with maxHold while the store does not answer', async () => {
    const [first] = await behindWriter({ ...READ, maxHold: 40 });
    await asked();
    await fixture.clock.advance(40);

    expect(first?.value?.signal.aborted).toBe(true);
  });

  it('keeps no single attempt waiting for longer than its outageTimeout while the store does not answer', async () => {
    await behindWriter(READ);
    await asked();
    const reader = enter({ ...READ, wait: 0, outageTimeout: 300 });
    await fixture.clock.advance(310);

    expect(reader.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  });

  it('keeps no single attempt waiting where others are not let in', async () => {
    const [, writer] = await behindWriter(READ, { ttl: 30_000 });
    const { fail } = await asked();
    const reader = enter({ ...READ, wait: 0 });
    await settle();
    expect(reader).toEqual({});
    fail(new StoreRefusal('NOPERM'));
    await settle();

    expect(reader.error).toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(writer).toEqual({});
  });

  it('lets a single attempt of another reader in, and not of a writer', async () => {
    await behindWriter(READ);
    const { request, answer } = await asked();
    const reader = enter({ ...READ, wait: 0 });
    const writer = enter({ ttl: 30_000, wait: 0 });
    answer(sharedGrant(request.shared.turn, 500));
    const next = await fixture.store.next('acquire');
    next.answer(sharedGrant(next.request.shared?.turn ?? '', 501));
    (await fixture.store.next('acquire')).answer(taken(600));
    await settle();

    expect(reader.value?.held).toBe(true);
    expect(writer.error).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });
});
