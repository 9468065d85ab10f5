import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { sharedGrant, taken } from './scripted-store.js';

const READ = { mode: 'shared', ttl: 30_000 } as const;
const PERMIT = { ...READ, limit: 2 } as const;

let fixture: EngineFixture;
beforeEach(() => (fixture = new EngineFixture()));

const enter = (options: LockOptions) => observe(fixture.acquire(options));

/** Two permits of a grant by hand-off, with tokens 200 to 207, and who waits here behind their holders. */
const handedOff = async (...behind: LockOptions[]) => {
  const { store } = fixture;
  const holds = [enter(PERMIT), enter(PERMIT)];
  const asked = await store.next('acquire');
  asked.answer(taken(100));
  await settle();
  const turn = asked.request.shared?.turn ?? '';
  fixture.events.granted('n', sharedGrant(turn, 200, 2, 8), 3_000);
  await settle();
  const waiting = behind.map(enter);
  const next = behind.length > 0 ? await store.next('acquire') : undefined;
  next?.answer(taken(300));
  await settle();
  return { holds, waiting, turn, next };
};
const release = async (hold: ReturnType<typeof enter> | undefined) => {
  const done = observe(hold?.value?.release() ?? Promise.reject(new Error('not held')));
  await settle();
  return done;
};

describe('A permit that is released', () => {
  it('goes to the next caller here without a request, with the next token of the block', async () => {
    const { holds, waiting } = await handedOff(PERMIT, PERMIT);
    expect(holds.map(({ value }) => value?.fencingToken)).toEqual([200, 201]);
    await release(holds[1]);
    await release(holds[0]);

    expect(waiting.map(({ value }) => value?.fencingToken)).toEqual([202, 203]);
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
    const asked = await store.next('acquire');
    const later = enter(PERMIT);
    asked.answer(taken(100));
    await settle();
    fixture.events.granted('n', sharedGrant(asked.request.shared?.turn ?? '', 200, 1, 4), 3_000);
    await settle();
    await release(first);

    expect(second.value?.fencingToken).toBe(201);
    expect((await store.next('cancel')).request.name).toBe('n');
    expect((await store.next('acquire')).request.place).not.toBe(asked.request.place);
    expect(later).toEqual({});
  });

  it.each<[string, LockOptions]>([
    ['another limit', { ...PERMIT, limit: 3 }],
    ['none', READ],
    ['the lock alone', {}],
  ])('does not pass to a caller that wants %s', async (_, other) => {
    const { holds, waiting, turn } = await handedOff(other);
    await release(holds[0]);

    expect((await fixture.store.next('release')).request.owner).toBe(`me~${turn}:1`);
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
    const { holds, waiting } = await handedOff(...Array.from({ length: 7 }, () => PERMIT));
    await release(holds[0]);
    for (let i = 0; i < 6; i++) await release(waiting[i]);

    expect(waiting.map(({ value }) => value?.fencingToken)).toEqual([
      202,
      203,
      204,
      205,
      206,
      207,
      undefined,
    ]);
    expect(fixture.store.unseen('release')).toBe(1);
  });

  it('that was free does not overtake known waiters', async () => {
    const first = [enter(PERMIT), enter(PERMIT)];
    const asked = await fixture.store.next('acquire');
    asked.answer(sharedGrant(asked.request.shared?.turn ?? '', 200, 2, 8));
    await settle();
    const waiting = enter(PERMIT);
    (await fixture.store.next('acquire')).answer(taken(300));
    await settle();
    await release(first[0]);

    expect(fixture.store.unseen('release')).toBe(1);
    expect(waiting).toEqual({});
  });
});

describe('A turn', () => {
  it.each([PERMIT, READ])(
    'requests a hold for each caller, though permits were recently passed on: %j',
    async (wanted) => {
      const { holds, waiting } = await handedOff(...Array.from({ length: 6 }, () => PERMIT));
      for (const hold of [holds[0], ...waiting]) await release(hold);
      for (let i = 0; i < 14; i++) enter(wanted);

      expect((await fixture.store.next('acquire')).request.tokens).toBe(14);
    },
  );
});

describe('A reader that leaves while others of its instance read', () => {
  /** So many readers of a name that was free, with 4 tokens for each. */
  const reading = async (count: number) => {
    const holds = Array.from({ length: count }, () => enter(READ));
    const asked = await fixture.store.next('acquire');
    asked.answer(sharedGrant(asked.request.shared?.turn ?? '', 200, count, 4 * count));
    await settle();
    return holds;
  };

  it('releases its lease at once, and the others keep theirs', async () => {
    const holds = await reading(2);
    const done = await release(holds[0]);
    const freed = await fixture.store.next('release');
    expect(freed.request.owner).toBe(holds[0]?.value?.lease.owner);
    expect(done).toEqual({});
    freed.answer(true);
    await settle();

    expect(Object.keys(done)).toEqual(['value']);
    expect(holds[1]?.value?.held).toBe(true);
  });

  it('leaves it to a caller that has asked, without known waiters', async () => {
    const holds = await reading(2);
    const next = enter(READ);
    await settle();
    expect(fixture.store.unseen('acquire')).toBe(1);
    await release(holds[0]);

    expect(next.value?.fencingToken).toBe(202);
  });

  it('does not overtake known waiters', async () => {
    const holds = await reading(2);
    const next = enter(READ);
    (await fixture.store.next('acquire')).answer(taken(300));
    await settle();
    await release(holds[0]);

    expect(next).toEqual({});
    expect(fixture.store.unseen('release')).toBe(1);
  });

  it('does not overtake waiters that made an attempt fail', async () => {
    const holds = await reading(2);
    const attempt = enter({ ...READ, wait: 0 });
    (await fixture.store.next('acquire')).answer(taken(300));
    await settle();
    expect(Object.keys(attempt)).toEqual(['error']);
    const next = enter(READ);
    await release(holds[0]);

    expect(next).toEqual({});
    expect(fixture.store.unseen('release')).toBe(1);
  });
});
