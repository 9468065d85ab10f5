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
    (await fixture.store.next('yield')).answer(grant(200, 8));
    await settle();
    const [holding, waiting] = holds;
    if (!holding?.value || !waiting) throw new Error('The first caller has got no hold.');
    return { first: holding.value, second: waiting };
  };
  const passOn = async (first: Hold) => {
    await first.release();
    await settle();
    await settle();
  };

  it('costs no request where both callers want the same', async () => {
    const { first, second } = await hold({ ttl: 9_000 }, { ttl: 9_000 });
    await passOn(first);

    expect(second.value?.held).toBe(true);
    expect(fixture.store.unseen('extend')).toBe(0);
  });

  it('is shortened at once for a caller that wants less', async () => {
    const { first, second } = await hold({ ttl: 30_000 }, { ttl: 1_000 });
    await passOn(first);

    expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 1_000, exact: true }]);
    expect(second.value?.remaining).toBeLessThan(1_000);
  });

  it('is shortened after a renewal that was asked for by the caller before and is under way', async () => {
    const { first } = await hold({ ttl: 30_000 }, { ttl: 20_000, wait: 60_000 });
    await fixture.clock.advance(11_000);
    expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 30_000, exact: false }]);
    await passOn(first);

    expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 20_000, exact: true }]);
  });

  it('is shortened again and again until the store has confirmed it', async () => {
    const { first, second } = await hold({ ttl: 30_000 }, { ttl: 3_000 });
    await passOn(first);
    (await fixture.store.next('extend')).fail(new Error('lost'));
    await settle();
    await fixture.clock.advance(500);
    const again = await fixture.store.next('extend');
    expect(again.request).toMatchObject([{ ttl: 3_000, exact: true }]);
    again.answer([true]);
    await settle();
    await fixture.clock.advance(1_000);

    expect((await fixture.store.next('extend')).request).toMatchObject([{ ttl: 3_000, exact: false }]);
    expect(second.value?.held).toBe(true);
  });
});
