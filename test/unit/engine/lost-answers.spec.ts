import type { Hold } from '../../../lib/engine/hold/hold.js';
import { bound, EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { grant, shares, taken } from './scripted-store.js';

describe('A hold that is lost while something is under way', () => {
  it('is not adopted by the next request if it was taken away before the answer that grants it', async () => {
    const { acquire, clock, events, store } = bound(new EngineFixture());
    const waiting = observe(acquire({}));
    await store.answer('acquire', taken(150));
    await clock.advance(1_000);
    const asked = await store.next('acquire');
    events().revoked('n', 'me:200');
    await asked.answer(grant(200));
    const again = await store.next('acquire');

    expect(again.request.endedTokenOfName).toBe(200);
    expect(waiting).toEqual({});
  });

  it('leads to one request for all callers if a listener of its signal acquires the name again', async () => {
    const { acquire, engine, events, store, hold } = bound(new EngineFixture());
    const first = await hold({});
    const callers: { value?: Hold }[] = [];
    first.signal.addEventListener('abort', () => callers.push(observe(acquire({}))));
    events().revoked('n', 'me:100');
    await store.answer('acquire', taken(150));
    callers.push(observe(acquire({})));
    await settle();
    expect(store.unseen('acquire')).toBe(0);

    events().granted('n', [grant(200, 2)], 3_000);
    await settle();
    expect(callers.map(({ value }) => value?.fencingToken)).toEqual([200, undefined]);
    expect(engine.size).toBe(1);
  });

  it('does not end a later hold of the same name', async () => {
    const { acquire, events, store, hold } = bound(new EngineFixture());
    const reader = observe(acquire({ mode: 'shared' }));
    await store.answer('share', shares('s1', 100));
    const writer = await hold({}, { token: 200 });
    const waiting = observe(acquire({}));
    events().revoked('n', reader.value?.lease.owner ?? '');
    await settle();
    expect(reader.value?.signal.aborted).toBe(true);
    expect(store.unseen('acquire')).toBe(0);

    void writer.release();
    await store.answer('yield', grant(201));
    expect(waiting.value?.held).toBe(true);
  });

  it('is not passed on after minHold when the store does not know it any more', async () => {
    const { acquire, clock, store, hold } = bound(new EngineFixture());
    const first = await hold({ minHold: 1_000 }, { tokens: 10 });
    const second = observe(acquire({}));
    void first.release();
    await store.answer('extend', [false]);

    const again = await store.next('acquire');
    await again.answer(taken(150));
    await clock.advance(990);

    expect(second).toEqual({});
    expect(store.unseen('yield')).toBe(0);
  });

  it('still notifies the next local holder of a loss when the abort of maxHold made its owner release', async () => {
    const { acquire, clock, events, hold } = bound(new EngineFixture({ window: 60_000 }));
    const first = await hold({ maxHold: 100 }, { tokens: 10 });
    const second = observe(acquire({}));
    first.signal.addEventListener('abort', () => void first.release());
    await clock.advance(100);
    expect(second.value?.held).toBe(true);

    events().revoked('n', 'me:100');

    expect(second.value?.signal.aborted).toBe(true);
  });
});

describe('A hold that is passed on with less left than its minHold', () => {
  it('is renewed at once, should its process die', async () => {
    const { acquire, clock, store, hold } = bound(new EngineFixture({ window: 60_000 }));
    const first = await hold({ ttl: 1_000 }, { tokens: 10 });
    await clock.advance(200);
    const second = observe(acquire({ ttl: 1_000, minHold: 900 }));
    await first.release();

    expect((await store.next('extend')).request).toMatchObject([{ name: 'n', owner: 'me:100', ttl: 1_000 }]);
    expect(second.value?.held).toBe(true);
  });
});

describe('A hold that begins with the reply to another caller’s request', () => {
  it('gets the ttl of its own caller', async () => {
    const { acquire, store } = bound(new EngineFixture());
    const aborter = new AbortController();
    const first = observe(acquire({ ttl: 100, signal: aborter.signal }));
    const request = await store.next('acquire');
    aborter.abort();
    const second = observe(acquire({ ttl: 5_000, renew: false }));
    await request.answer(grant(100));
    await store.answer('extend', [true]);

    expect(first.error).toBe(aborter.signal.reason);
    expect(second.value?.remaining).toBeGreaterThan(4_900);
  });

  it('also gets the ttl of its own caller after a yield', async () => {
    const { acquire, store, hold } = bound(new EngineFixture());
    const first = await hold({ ttl: 100 });
    const aborter = new AbortController();
    const second = observe(acquire({ ttl: 100, signal: aborter.signal }));
    const third = observe(acquire({ ttl: 5_000, renew: false }));
    await first.release();
    const yielded = await store.next('yield');
    aborter.abort();
    await yielded.answer(grant(101, 2));
    await store.answer('extend', [true]);

    expect(second.error).toBe(aborter.signal.reason);
    expect(third.value?.remaining).toBeGreaterThan(4_900);
  });
});
