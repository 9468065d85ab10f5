import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { noShares, sharedGrants, shares, taken } from './scripted-store.js';

const READ = { mode: 'shared', ttl: 30_000 } as const;
const PERMIT = { ...READ, limit: 2 } as const;

let fixture: EngineFixture;
beforeEach(() => (fixture = new EngineFixture()));

const enter = (options: LockOptions) => observe(fixture.acquire(options));

/** Two permits of a grant by hand-off, with tokens 200 to 203 and 204 to 207, and who waits here behind their holders. */
const handedOff = async (...behind: LockOptions[]) => {
  const { store } = fixture;
  const holds = [enter(PERMIT), enter(PERMIT)];
  await store.answer('share', noShares(100));
  fixture.events.granted('n', sharedGrants('s1of2', 200, 2, 8), 3_000);
  await settle();
  const waiting = behind.map(enter);
  const next = behind[0]?.mode === 'shared' ? await store.next('share') : undefined;
  await next?.answer(noShares(300));
  if (behind.length > 0 && !next) await store.answer('acquire', taken(300));
  return { holds, waiting, next };
};
const release = async (hold: ReturnType<typeof enter> | undefined) => {
  const done = observe(hold?.value?.release() ?? Promise.reject(new Error('not held')));
  await settle();
  return done;
};

describe('A permit that is released', () => {
  it('goes to the next caller here without a request, with the next token of its block', async () => {
    const { holds, waiting } = await handedOff(PERMIT, PERMIT);
    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([200, 204]);
    await release(holds[1]);
    await release(holds[0]);

    expect(waiting.map(({ value }) => value?.fencingToken)).toEqual([205, 201]);
    expect(waiting.map(({ value }) => value?.lease.owner)).toEqual(
      [1, 0].map((i) => holds[i]?.value?.lease.owner),
    );
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('leaves the queue of the store for callers that were served', async () => {
    const { holds, next } = await handedOff(PERMIT);
    await release(holds[0]);

    expect((await fixture.store.next('cancel')).request.place).toBe(next?.request.place);
  });

  it('counts its caller as served, so that later callers queue again behind other instances', async () => {
    const { store } = fixture;
    const first = enter(PERMIT);
    const second = enter(PERMIT);
    const asked = await store.next('share');
    const later = enter(PERMIT);
    await asked.answer(noShares(100));
    fixture.events.granted('n', sharedGrants('s1of2', 200, 1, 4), 3_000);
    await settle();
    await release(first);

    expect(second.value?.fencingToken).toBe(201);
    expect((await store.next('cancel')).request.place).toBe('me|3000|1|s1of2');
    expect((await store.next('share')).request.place).toBe('me|3000|1|s1of2');
    expect(later).toEqual({});
  });

  it.each<[string, LockOptions]>([
    ['another limit', { ...PERMIT, limit: 3 }],
    ['none', READ],
    ['the lock alone', {}],
  ])('does not pass to a caller that wants %s', async (_, other) => {
    const { holds, waiting } = await handedOff(other);
    await release(holds[0]);

    expect((await fixture.store.next('release')).request.owner).toBe('me~s1of2:200');
    expect(waiting).toEqual([{}]);
  });

  it('passes to other instances when its window has ended', async () => {
    const { holds, waiting } = await handedOff(PERMIT);
    await fixture.clock.advance(20);
    await release(holds[0]);

    expect(fixture.store.unseen('release')).toBe(1);
    expect(waiting).toEqual([{}]);
  });

  it('is given to other instances when its tokens are used up', async () => {
    const { holds, waiting } = await handedOff(...Array.from({ length: 4 }, () => PERMIT));
    await release(holds[0]);
    for (let i = 0; i < 3; i++) await release(waiting[i]);

    expect(waiting.map(({ value }) => value?.fencingToken)).toEqual([201, 202, 203, undefined]);
    expect(fixture.store.unseen('release')).toBe(1);
  });

  it('that was free does not overtake known waiters', async () => {
    const first = [enter(PERMIT), enter(PERMIT)];
    await fixture.store.answer('share', shares('s1of2', 200, { holds: 2, tokens: 8 }));
    const waiting = enter(PERMIT);
    await fixture.store.answer('share', noShares(300));
    await release(first[0]);

    expect(fixture.store.unseen('release')).toBe(1);
    expect(waiting).toEqual({});
  });
});

describe('A bid', () => {
  it.each([PERMIT, READ])(
    'requests a hold for each caller, though permits were recently passed on: %j',
    async (wanted) => {
      const { holds, waiting } = await handedOff(...Array.from({ length: 3 }, () => PERMIT));
      for (const hold of [holds[0], ...waiting]) await release(hold);
      for (let i = 0; i < 14; i++) enter(wanted);

      expect((await fixture.store.next('share')).request.holds).toBe(14);
    },
  );
});

describe('A reader that leaves while others of its instance read', () => {
  /** So many readers of a name that was free, with 4 tokens for each. */
  const reading = async (count: number) => {
    const holds = Array.from({ length: count }, () => enter(READ));
    await fixture.store.answer('share', shares('s1', 200, { holds: count, tokens: 4 * count }));
    return holds;
  };

  it('releases its lease at once, and the others keep theirs', async () => {
    const holds = await reading(2);
    const done = await release(holds[0]);
    const freed = await fixture.store.next('release');
    expect(freed.request.owner).toBe(holds[0]?.value?.lease.owner);
    expect(done).toEqual({});
    await freed.answer(true);

    expect(Object.keys(done)).toEqual(['value']);
    expect(holds[1]?.value?.held).toBe(true);
  });

  it('leaves it to a caller that has asked, without known waiters', async () => {
    const holds = await reading(2);
    const next = enter(READ);
    await settle();
    expect(fixture.store.unseen('share')).toBe(1);
    await release(holds[0]);

    expect(next.value?.fencingToken).toBe(201);
  });

  it('does not overtake known waiters', async () => {
    const holds = await reading(2);
    const next = enter(READ);
    await fixture.store.answer('share', noShares(300));
    await release(holds[0]);

    expect(next).toEqual({});
    expect(fixture.store.unseen('release')).toBe(1);
  });

  it('does not overtake waiters that made an attempt fail', async () => {
    const holds = await reading(2);
    const attempt = enter({ ...READ, wait: 0 });
    await fixture.store.answer('share', noShares(300));
    expect(Object.keys(attempt)).toEqual(['error']);
    const next = enter(READ);
    await release(holds[0]);

    expect(next).toEqual({});
    expect(fixture.store.unseen('release')).toBe(1);
  });
});
