import type { ScheduledCall } from '../../../lib/primitives/clock.js';
import { EngineFixture } from './engine-fixture.js';
import { ManualClock, settle } from './manual-clock.js';
import type { StoreCall } from './scripted-store.js';

/** Rings early, as timers do that were set late in a turn of the event loop. */
class HastyClock extends ManualClock {
  override schedule(call: () => void, delay: number): ScheduledCall {
    return super.schedule(call, delay - Math.min(5, delay / 2));
  }
}

describe('minHold', () => {
  it.each<[string, (request: StoreCall<'extend'>) => void]>([
    ['also if the timer calls back early', (request) => request.answer([true])],
    ['also if its request for a shorter lease fails', (request) => request.fail(new Error('no reply'))],
  ])('keeps the name taken until its end, %s', async (_case, reply) => {
    const fixture = new EngineFixture({}, new HastyClock());
    const hold = await fixture.hold({ minHold: 300 });
    const released = hold.release();
    const extension = await fixture.store.next('extend');
    // A lease that ended with minHold would expire before the release.
    expect(extension.request[0]?.ttl).toBeGreaterThan(300);
    reply(extension);
    await released;

    await fixture.clock.advance(299);
    expect(fixture.store.unseen('release')).toBe(0);
    await fixture.clock.advance(2);
    await settle();
    expect(fixture.store.unseen('release')).toBe(1);
  });

  it('requests no release of a lock that Redis no longer knows', async () => {
    const fixture = new EngineFixture();
    const hold = await fixture.hold({ minHold: 300 });
    const released = hold.release();
    await fixture.store.answer('extend', [false]);
    await released;
    await fixture.clock.advance(1_000);

    expect(fixture.store.unseen('release')).toBe(0);
    expect([fixture.engine.size, fixture.engine.leases.size]).toEqual([0, 0]);
  });
});
