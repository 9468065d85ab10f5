import type { Hold } from '../../../lib/engine/hold/hold.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { grant } from './scripted-store.js';

describe('A lease that is passed on in memory', () => {
  let fixture: EngineFixture;
  beforeEach(() => (fixture = new EngineFixture({ window: 60_000 })));

  /** The first of two callers with leases of so many ms, of whom the other waits behind it, with tokens for both. */
  const hold = async (first: LockOptions, second: LockOptions) => {
    const before = await fixture.hold({});
    const holds = [first, second].map((options) => observe(fixture.acquire(options)));
    void before.release();
    await fixture.store.answer('yield', grant(200, 8));
    const [holding, waiting] = holds;
    if (!holding?.value || !waiting) throw new Error('The first caller has got no hold.');
    return { first: holding.value, second: waiting };
  };
  const passOn = async (first: Hold) => {
    await first.release();
    await settle();
    await settle();
  };

  it('costs no request if both callers have equal terms', async () => {
    const { first, second } = await hold({ ttl: 9_000 }, { ttl: 9_000 });
    await passOn(first);

    expect(second.value?.held).toBe(true);
    expect(fixture.store.unseen('extend')).toBe(0);
  });

  it('goes back to the store before a caller that requires replicas', async () => {
    const { first, second } = await hold({}, { replicas: { min: 1 } });
    await passOn(first);

    expect(second).toEqual({});
    expect(fixture.store.unseen('yield') + fixture.store.unseen('release')).toBe(1);
  });

  it('goes back to the store at the end of its window, which begins with the grant', async () => {
    fixture = new EngineFixture({ window: 20 });
    const { first, second } = await hold({}, {});
    const third = observe(fixture.acquire());
    await fixture.clock.advance(19);
    await passOn(first);
    expect(second.value?.held).toBe(true);
    await fixture.clock.advance(1);
    await passOn(second.value as Hold);

    expect(third).toEqual({});
    expect(fixture.store.unseen('yield')).toBe(1);
  });

  it('goes to twice as many callers after each yield without other waiters', async () => {
    fixture = new EngineFixture({ max: 2, window: 60_000 });
    const first = await fixture.hold();
    const callers = Array.from({ length: 12 }, () => observe(fixture.acquire()));
    await passOn(first);
    let token = 100;
    for (const caller of callers) {
      if (!caller.value) await fixture.store.answer('yield', grant((token += 100), 8));
      void caller.value?.release();
      await settle();
    }

    const served = [200, 201, 202, 203, 300, 301, 302, 303, 304, 305, 306, 307];
    expect(callers.map(({ value }) => value?.fencingToken)).toEqual(served);
  });

  it('is shortened at once for a caller that wants less', async () => {
    const { first, second } = await hold({ ttl: 30_000 }, { ttl: 1_000 });
    await passOn(first);

    expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 1_000, exact: true }]);
    expect(second.value?.remaining).toBeLessThan(1_000);
  });

  it('is shortened after a renewal of the previous caller that is in flight', async () => {
    const { first } = await hold({ ttl: 30_000 }, { ttl: 20_000, wait: 60_000 });
    await fixture.clock.advance(11_000);
    expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 30_000, exact: false }]);
    await passOn(first);

    expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 20_000, exact: true }]);
  });

  it('is shortened again and again until the store has confirmed it', async () => {
    const { first, second } = await hold({ ttl: 30_000 }, { ttl: 3_000 });
    await passOn(first);
    await fixture.store.fail('extend', new Error('lost'));
    await fixture.clock.advance(500);
    const again = await fixture.store.next('extend');
    expect(again.request).toMatchObject([{ ttl: 3_000, exact: true }]);
    await again.answer([true]);
    await fixture.clock.advance(1_000);

    expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 3_000, exact: false }]);
    expect(second.value?.held).toBe(true);
  });

  describe('and was shortened by a request that may have been sent twice', () => {
    /** The second caller's hold, whose lease of 1 s it has extended to 12 s. */
    const extended = async (options: LockOptions) => {
      const { first, second } = await hold({ ttl: 30_000 }, { ttl: 1_000, ...options });
      await passOn(first);
      const shortened = await fixture.store.next('extend');
      fixture.events.reconnected();
      await shortened.answer([true]);
      while (fixture.store.unseen('extend') > 0) await fixture.store.answer('extend', [true]);
      const done = observe(second.value?.extend(12_000) ?? Promise.reject(new Error('not held')));
      await fixture.store.answer('extend', [true]);
      return { lock: second.value, done };
    };

    it('is relied on for no longer than such a request would leave, and renewed as often as that takes', async () => {
      const { lock, done } = await extended({});

      expect(Object.keys(done)).toEqual(['value']);
      expect(lock?.remaining).toBeLessThan(1_000);
      await fixture.clock.advance(400);
      expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 12_000 }]);
    });

    it('is not extended without renewal', async () => {
      const { lock, done } = await extended({ renew: false });

      expect(done.error).toMatchObject({
        code: 'LOCK_UNAVAILABLE',
        cause: { message: expect.stringContaining('late') as string },
      });
      expect(lock?.held).toBe(true);
    });
  });
});
