import { hasAcquireSubscribers, observeAcquire } from '../../../lib/diagnostics/acquire.channel.js';
import { callFrom } from '../../../lib/diagnostics/call-origin.js';
import type { LockLeaseRenewal } from '../../../lib/diagnostics/lock-events.interface.js';
import { listenToLocks } from '../../../lib/diagnostics/lock-channel.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import { LockEvents } from '../../support/lock-events.js';
import { EngineFixture, observe } from '../engine/engine-fixture.js';
import { settle } from '../engine/manual-clock.js';
import { grant, sharedGrants, shares, taken } from '../engine/scripted-store.js';

describe('How a hold came about', () => {
  let fixture: EngineFixture;
  beforeEach(() => (fixture = new EngineFixture()));

  it('is re-ask if a re-ask finds the name free', async () => {
    const hold = observe(fixture.acquire());
    await fixture.store.answer('acquire', taken(100, 50));
    await fixture.clock.advance(60);
    await fixture.store.answer('acquire', grant(200));

    expect(hold.value?.how).toBe('re-ask');
  });

  it('is hand-off if the reply to a re-ask only confirms a hand-off', async () => {
    const hold = observe(fixture.acquire());
    await fixture.store.answer('acquire', taken(100, 50));
    await fixture.clock.advance(60);
    fixture.events.granted('n', [grant(200)], 3_000);
    await fixture.store.answer('acquire', grant(200));

    expect(hold.value?.how).toBe('hand-off');
  });

  describe.each([
    { mode: 'exclusive', request: 'acquire', granted: [grant(200)], reply: grant(200) },
    { mode: 'shared', request: 'share', granted: sharedGrants('s1', 200), reply: shares('s1', 200) },
  ] as const)('in $mode mode', ({ mode, request, granted, reply }) => {
    it('is hand-off if its message came although no reply had come before', async () => {
      const hold = observe(fixture.acquire({ mode }));
      await fixture.store.fail(request, new Error('The connection was lost.'));
      await fixture.clock.advance(50);
      const confirmation = await fixture.store.next(request);
      fixture.events.granted('n', granted, 3_000);
      await confirmation.answer(reply);

      expect(hold.value?.how).toBe('hand-off');
    });

    it('is free if a free lock was confirmed because the reply came late', async () => {
      const hold = observe(fixture.acquire({ mode, ttl: 3_000, outageTimeout: 9_000 }));
      const first = await fixture.store.next(request);
      await fixture.clock.advance(2_900);
      await first.answer(reply);
      await fixture.store.answer(request, reply);

      expect(hold.value?.how).toBe('free');
    });
  });

  it('is local if the store left the lock to this instance without other waiters', async () => {
    fixture = new EngineFixture({ max: 1 });
    const first = await fixture.hold();
    const second = observe(fixture.acquire());
    void first.release();
    await fixture.store.answer('yield', grant(200));

    expect(first.how).toBe('free');
    expect(second.value?.how).toBe('local');
  });
});

describe('Renewals', () => {
  it('measure their lag from when they were first due, through retries', async () => {
    const fixture = new EngineFixture();
    const renewals: LockLeaseRenewal[] = [];
    const stop = listenToLocks({ 'nest-redis-lock:lease:renewal': (message) => renewals.push(message) });
    const asked = fixture.acquire({ ttl: 3_000 });
    await fixture.store.answer('acquire', grant(100));
    await asked;

    await fixture.clock.advance(1_000);
    await fixture.store.fail('extend', new Error('away'));
    await fixture.clock.advance(700);
    await fixture.store.answer('extend', [true]);
    stop();

    expect(renewals).toHaveLength(2);
    expect(renewals[0]).toMatchObject({ names: ['n'], answered: false });
    expect(renewals[1]).toEqual({ names: ['n'], answered: true, lag: 700, took: expect.any(Number) });
  });
});

describe('Channels', () => {
  it('do nothing without listeners', async () => {
    const hold = await new EngineFixture().hold();

    expect(hasAcquireSubscribers()).toBe(false);
    expect(hold.acquire).toBeUndefined();
  });

  it('serve a later listener, only while it listens', async () => {
    const events = new LockEvents('n');
    expect(hasAcquireSubscribers()).toBe(true);
    events[Symbol.dispose]();

    expect(hasAcquireSubscribers()).toBe(false);
  });

  it('name the requesting method, also for a later request', async () => {
    using events = new LockEvents('n');
    const fixture = new EngineFixture();
    const origin = { method: 'Orders.place', template: 'order:<0>' };
    const asked = callFrom(origin, async () => {
      const options = resolveLockOptions(LOCK_OPTION_DEFAULTS, {});
      await settle();
      return observeAcquire(fixture.engine, 'n', options);
    });
    await fixture.store.answer('acquire', grant(100));
    await asked;

    expect(events.of('nest-redis-lock:acquire:start')).toMatchObject([{ acquire: origin }]);
  });

  it('publish a call that is rejected at once', async () => {
    using events = new LockEvents('n');
    const { engine } = new EngineFixture();
    engine.rejectAcquires();
    await expect(observeAcquire(engine, 'n', LOCK_OPTION_DEFAULTS)).rejects.toMatchObject({
      code: 'LOCK_CLOSED',
    });

    expect(events.of('nest-redis-lock:acquire:failed')).toMatchObject([{ error: { code: 'LOCK_CLOSED' } }]);
  });
});
