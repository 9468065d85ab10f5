import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { grant } from './scripted-store.js';

describe('A lease that the store keeps for longer than requested', () => {
  it('is shortened at once, and no hold uses its owner id after that', async () => {
    const fixture = new EngineFixture();
    const { clock, store } = fixture;
    const hold = await fixture.hold({ ttl: 3_000 }, { tokens: 10 });
    await clock.advance(1_000);
    const renewal = await store.next('extend');
    expect(renewal.request).toMatchObject([{ ttl: 3_000, exact: false }]);
    renewal.answer([60_000]);
    await settle();
    await clock.advance(0);
    const second = await store.next('extend');
    expect(second.request).toMatchObject([{ ttl: 3_000, exact: true }]);
    second.answer([1]);
    await settle();
    await clock.advance(1_000);
    expect((await store.next('extend')).request).toMatchObject([{ exact: false }]);

    const next = observe(fixture.acquire({}));
    void hold.release();
    (await store.next('yield')).answer(grant(200));
    await settle();
    expect(next.value?.fencingToken).toBe(200);
  });

  it('is shortened after the extension of a caller', async () => {
    const fixture = new EngineFixture();
    const { clock, store } = fixture;
    const hold = await fixture.hold({ ttl: 3_000 });
    const extended = observe(hold.extend(2_000));
    (await store.next('extend')).answer([1]);
    await settle();
    const again = observe(hold.extend(2_000));
    (await store.next('extend')).answer([60_000]);
    await settle();
    await clock.advance(0);

    expect((await store.next('extend')).request).toMatchObject([{ ttl: 2_000, exact: true }]);
    expect([extended.error, again.error]).toEqual([undefined, undefined]);
  });
});
