import { StoreRefusal } from '../../../lib/store/store-errors.js';
import { bound, EngineFixture, observe } from './engine-fixture.js';
import { grant, taken } from './scripted-store.js';

const LOST = new Error('Stream is not writable.');

describe('An unconfirmed request', () => {
  it('is repeated at growing intervals until the lease has expired, without a waiting caller', async () => {
    const { clock, store, engine, hold } = bound(new EngineFixture());
    const lock = await hold({ ttl: 10_000 });
    const released = observe(lock.release().then(() => 'settled'));
    await store.fail('release', LOST);
    expect(released.value).toBe('settled');
    const startedAt = clock.now();
    const times: number[] = [];
    while (clock.now() < startedAt + 20_000) {
      await clock.advance(50);
      if (store.unseen('release') === 0) continue;
      times.push(clock.now() - startedAt);
      await store.fail('release', LOST);
    }

    expect(times.slice(0, 6)).toEqual([50, 150, 350, 750, 1_550, 2_550]);
    expect(times.at(-1)).toBeLessThan(10_000);
    expect(times.at(-1)).toBeGreaterThan(8_000);
    expect([engine.size, clock.pending]).toEqual([0, 0]);
  });

  it('that Redis refuses for good is not repeated, and the log says what follows', async () => {
    const fixture = new EngineFixture();
    const { clock, store, hold } = bound(fixture);
    const lock = await hold({ ttl: 10_000 });
    void lock.release();
    await store.fail('release', new StoreRefusal('NOPERM this user has no permissions'));
    await store.fail('extend', new StoreRefusal('NOPERM nor for this command'));
    await clock.advance(10_000);

    expect([store.unseen('release'), store.unseen('extend')]).toEqual([0, 0]);
    expect(fixture.warnings).toEqual([
      'The release of n was refused. A request that only ends the lease follows; waiters find the lock free when they ' +
        'ask again. NOPERM this user has no permissions',
      'The release of n was refused. It is not repeated: the lease or the place in the queue expires within 10000 ms. ' +
        'NOPERM nor for this command',
    ]);
  });

  it('that Redis refuses for good with a known reason is logged once in a minute', async () => {
    const fixture = new EngineFixture();
    const { clock, store, hold } = bound(fixture);
    const refuse = async (name: string): Promise<void> => {
      void (await hold({ ttl: 10_000 }, { name })).release();
      await store.fail('release', new StoreRefusal('NOPERM this user has no permissions'));
    };
    await refuse('a');
    await refuse('b');
    expect(fixture.warnings).toHaveLength(1);
    await clock.advance(60_000);
    await refuse('c');

    expect(fixture.warnings).toEqual([
      expect.stringMatching('^The release of a was refused'),
      expect.stringMatching('^The release of c was refused'),
    ]);
  });

  it('that Redis refuses for good when it is repeated is reported as well', async () => {
    const fixture = new EngineFixture();
    const { clock, store, hold } = bound(fixture);
    const lock = await hold({ ttl: 10_000 });
    void lock.release();
    await store.fail('release', LOST);
    await clock.advance(50);
    await store.fail('release', new StoreRefusal('NOPERM this user has no permissions'));
    await clock.advance(10_000);

    expect(store.unseen('release')).toBe(0);
    expect(fixture.warnings).toEqual([
      'The release of n was not confirmed. The request is repeated until the lease expires. Stream is not writable.',
      'The release of n was refused. A request that only ends the lease follows; waiters find the lock free when they ' +
        'ask again. NOPERM this user has no permissions',
    ]);
  });

  it('is sent again at once when the store can be reached again', async () => {
    const { clock, store, events, hold } = bound(new EngineFixture());
    const lock = await hold();
    void lock.release();
    await store.fail('release', LOST);
    await clock.advance(600);
    await store.fail('release', LOST);
    while (store.unseen('release') > 0) await store.fail('release', LOST);
    events().reconnected();

    expect((await store.next('release')).request).toEqual({ name: 'n', owner: 'me:100' });
  });

  it('does not leave for a bid that has come since', async () => {
    const { acquire, clock, store } = bound(new EngineFixture());
    const aborter = new AbortController();
    observe(acquire({ signal: aborter.signal }));
    await store.answer('acquire', taken(50));
    aborter.abort();
    await store.fail('cancel', LOST);
    const second = observe(acquire());
    await store.answer('acquire', taken(60));
    await clock.advance(1_000);
    expect(store.unseen('cancel')).toBe(0);
    await store.answer('acquire', grant(200));
    await clock.advance(1_000);
    expect(store.unseen('cancel')).toBe(0);
    void second.value?.release();
    await store.answer('release', true);
    await clock.advance(1_000);

    expect(store.unseen('cancel')).toBe(1);
  });

  it('of a detachment is undone when the hold has ended meanwhile', async () => {
    const { store, clock, hold } = bound(new EngineFixture());
    const lock = await hold();
    const detached = observe(lock.detach());
    const { to } = (await next(store.next('transfer'), LOST)).request;
    const back = await store.next('transfer');
    expect(back.request).toMatchObject({ from: to, to: 'me:100' });
    await back.fail(LOST);
    expect(detached.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    void lock.release();
    await store.answer('release', false);
    await clock.advance(50);

    expect((await store.next('release')).request.owner).toBe(to);
    expect(store.unseen('transfer')).toBe(0);
  });
});

async function next<Call extends { fail(error: Error): Promise<void> }>(
  call: Promise<Call>,
  error: Error,
): Promise<Call> {
  const asked = await call;
  await asked.fail(error);
  return asked;
}
