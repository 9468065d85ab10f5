import { blockEventLoop } from '../../support/block-event-loop.js';
import { LockEvents } from '../../support/lock-events.js';
import { waitFor } from '../../support/wait-for.js';
import type { ContractContext } from '../lock-backend.js';
import { aborted, BEARABLE, IN_VAIN, isQueued } from '../observe.js';

/** What is told on `node:diagnostics_channel`. */
export function describeDiagnostics(all: ContractContext): void {
  const { it } = all;
  const { handsOff } = all.capabilities;
  describe('diagnostics', () => {
    let events: LockEvents;
    beforeEach(() => (events = new LockEvents(all.name)));
    afterEach(() => events[Symbol.dispose]());

    it('publish the call, the grant and the release of a free lock, each with the same call', async (context) => {
      const { locks, name } = context;
      const lock = await locks.acquire(name, { wait: 7_000, ttl: 9_000, label: 'Orders.pay' });
      await lock.release();

      expect(events.channels()).toEqual(['acquire:start', 'acquire:granted', 'hold:released']);
      const [start] = events.of('nest-redis-lock:acquire:start');
      const [granted] = events.of('nest-redis-lock:acquire:granted');
      const [released] = events.of('nest-redis-lock:hold:released');
      expect(start?.acquire).toEqual({
        name,
        wait: 7_000,
        ttl: 9_000,
        label: 'Orders.pay',
        method: undefined,
        template: undefined,
      });
      expect(granted?.acquire).toBe(start?.acquire);
      expect(released?.acquire).toBe(start?.acquire);
      expect(granted).toMatchObject({ how: 'free', fencingToken: lock.fencingToken });
      expect(granted?.waited).toBeGreaterThanOrEqual(0);
      expect(released).toMatchObject({ fencingToken: lock.fencingToken });
    });

    it('publish the start inside the call', async ({ locks, name }) => {
      const wait = locks.acquire(name);
      expect(events.channels()).toEqual(['acquire:start']);
      await (await wait).release();
    });

    it('publish the times of wait and hold, and that the lock was passed on in the instance', async (context) => {
      const { locks, name } = context;
      const first = await locks.acquire(name);
      const second = locks.acquire(name);
      const begin = performance.now();
      await waitFor(() => performance.now() - begin > 30);
      await first.release();
      await (await second).release();

      const granted = events.of('nest-redis-lock:acquire:granted');
      expect(granted.map(({ how }) => how)).toEqual(['free', 'local']);
      expect(granted[1]?.waited).toBeGreaterThan(29);
      expect(events.of('nest-redis-lock:hold:released')[0]?.age).toBeGreaterThan(29);
    });

    const came = handsOff
      ? 'handed off by another instance'
      : 'had by asking again (as every grant of a majority)';
    it(`report that a lock was ${came}`, async ({ locks, others, name }) => {
      const held = await others.acquire(name);
      const wait = locks.acquire(name);
      await isQueued(locks, name, 1);
      await held.release();
      await (await wait).release();

      expect(events.of('nest-redis-lock:acquire:granted').map(({ how }) => how)).toEqual([
        'free',
        handsOff ? 'hand-off' : 're-ask',
      ]);
    });

    it.steadily(BEARABLE)(
      'publish that a wait ended without the lock, also for a single attempt',
      async (context) => {
        const { locks, others, name } = context;
        using ofRound = new LockEvents(name);
        const held = await others.acquire(name);
        await locks.tryAcquire(name);
        const error = await locks.acquire(name, { wait: IN_VAIN }).catch((reason: unknown) => reason);
        await held.release();

        const timeouts = ofRound.of('nest-redis-lock:acquire:timeout');
        expect(timeouts.map(({ acquire }) => acquire.wait)).toEqual([0, IN_VAIN]);
        expect(timeouts[1]?.holder?.owner).toBeDefined();
        expect(error).toMatchObject({ code: 'LOCK_TIMEOUT', holder: timeouts[1]?.holder });
        expect(timeouts[1]?.waited).toBeGreaterThan(IN_VAIN - 1);
        expect(ofRound.of('nest-redis-lock:acquire:failed')).toEqual([]);
      },
    );

    it('publish the reason of an aborted caller', async ({ locks, others, name }) => {
      const held = await others.acquire(name);
      const caller = new AbortController();
      const wait = locks.acquire(name, { signal: caller.signal });
      const reason = new Error('gone home');
      caller.abort(reason);
      await expect(wait).rejects.toBe(reason);
      await held.release();

      expect(events.of('nest-redis-lock:acquire:failed')).toMatchObject([{ error: reason }]);
    });

    it('publish a lost hold once, with the reason, and no release', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name);
      await others.forceRelease(name);
      await aborted(lock.signal);
      await lock.release();

      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'forced' });
      expect(events.channels('hold')).toEqual(['hold:lost']);
      expect(events.of('nest-redis-lock:hold:lost')).toMatchObject([
        { reason: 'forced', fencingToken: lock.fencingToken },
      ]);
    });

    it('publish that a hold exceeded maxHold', async ({ locks, name }) => {
      const lock = await locks.acquire(name, { maxHold: 20 });
      await aborted(lock.signal);
      await lock.release();

      expect(events.of('nest-redis-lock:hold:lost')).toMatchObject([{ reason: 'max-hold' }]);
      expect(events.channels('hold')).toEqual(['hold:lost']);
    });

    it('publish an expired lease, also if it is released before the expiry was detected', async (context) => {
      const { locks, name } = context;
      const lock = await locks.acquire(name, { ttl: 200, renew: false });
      // No timer has seen the end of the lease.
      blockEventLoop(lock.remaining + 1);
      await lock.release();

      expect(events.of('nest-redis-lock:hold:lost')).toMatchObject([{ reason: 'expired' }]);
      expect(events.channels('hold')).toEqual(['hold:lost']);
    });

    it.steadily(100)('publish renewals, and the delay of their replies', async ({ locks, name }) => {
      using ofRound = new LockEvents(name);
      const renewals = () => ofRound.of('nest-redis-lock:lease:renewal');
      const lock = await locks.acquire(name, { ttl: 600 });
      await waitFor(() => renewals().length > 1 || !lock.held);
      expect(lock.held).toBe(true);
      await lock.release();

      for (const renewal of renewals()) {
        expect(renewal).toMatchObject({ names: expect.arrayContaining([name]), answered: true });
        expect(renewal.took).toBeGreaterThanOrEqual(0);
        expect(renewal.lag).toBeGreaterThanOrEqual(0);
        expect(renewal.lag).toBeLessThan(600);
      }
    });

    it('publish how many callers of the instance wait', async ({ locks, name }) => {
      const first = await locks.acquire(name);
      const waits = [locks.acquire(name), locks.acquire(name)];
      expect(events.of('nest-redis-lock:queue:length').map(({ length }) => length)).toEqual([1, 0, 1, 2]);

      await first.release();
      for (const wait of waits) await (await wait).release();

      expect(events.of('nest-redis-lock:queue:length').at(-1)).toEqual({ name, length: 0 });
    });

    it.each<readonly [string, (name: string) => string | readonly string[]]>([
      ['one name', (name) => name],
      ['several names', (name) => [name, `${name}:more`]],
    ])('publish nothing for calls that reuse a surrounding hold: %s', async ({ locks, name }, _, keyOf) => {
      await locks.using(name, () => locks.using(keyOf(name), async () => {}));

      expect(events.channels()).toEqual(['acquire:start', 'acquire:granted', 'hold:released']);
    });
  });
}
