import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { TooFewReplicas } from '../../../lib/store/store-errors.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { grant, taken } from './scripted-store.js';

describe('A grant by hand-off', () => {
  let fixture: EngineFixture;
  beforeEach(() => (fixture = new EngineFixture()));

  /** Waits in the queue of the store, where all grants up to token 100 were made before. */
  const wait = async (options: LockOptions = {}) => {
    const hold = observe(fixture.acquire({ ttl: 3_000, ...options }));
    const request = await fixture.store.next('acquire');
    await request.answer(taken(100));
    return { hold, place: request.request.place };
  };

  it('is held, and renewed at once to a full lease', async () => {
    const { hold } = await wait({ ttl: 30_000 });
    fixture.events.granted('n', [grant(200)], 3_000);
    await settle();

    expect(hold.value?.held).toBe(true);
    expect(hold.value?.remaining).toBeLessThanOrEqual(3_000);
    const renewal = await fixture.store.next('extend');
    expect(renewal.request).toMatchObject([{ owner: 'me:200', ttl: 30_000 }]);
    await renewal.answer([true]);
    expect(hold.value?.remaining).toBeGreaterThan(29_000);
  });

  it('is renewed only after its holder has begun, and not at all if its work has ended by then', async () => {
    const hold = fixture.acquire({ ttl: 30_000 });
    await fixture.store.answer('acquire', taken(100));
    const sentBefore: number[] = [];
    void hold.then(async ({ release }) => {
      sentBefore.push(fixture.store.unseen('extend'));
      await release.call(await hold);
    });
    fixture.events.granted('n', [grant(200)], 3_000);
    await settle();
    await settle();

    expect(sentBefore).toEqual([0]);
    expect(fixture.store.unseen('release')).toBe(1);
    expect(fixture.store.unseen('extend')).toBe(0);
  });

  it('has a deadline counted from when the request was sent that last found it waiting', async () => {
    const { hold } = await wait();
    await fixture.clock.advance(900);
    fixture.events.granted('n', [grant(200)], 3_000);
    await settle();

    expect(hold.value?.remaining).toBeLessThanOrEqual(2_100);
    expect(hold.value?.remaining).toBeGreaterThan(2_000);
  });

  it('that is read only after the process was stopped beyond the claim lease is never held', async () => {
    const { hold } = await wait();
    fixture.clock.skip(4_000);
    fixture.events.granted('n', [grant(200)], 3_000);
    await fixture.store.answer('acquire', taken(300));
    fixture.events.granted('n', [grant(200)], 3_000);
    await settle();

    expect(hold).toEqual({});
  });

  it('with too little left is confirmed before it is held', async () => {
    const { hold } = await wait();
    fixture.clock.skip(2_500);
    fixture.events.granted('n', [grant(200)], 3_000);
    await settle();
    expect(hold).toEqual({});
    const confirmation = await fixture.store.next('acquire');
    await confirmation.answer(grant(200));

    expect(hold.value).toMatchObject({ fencingToken: 200, held: true });
    expect(hold.value?.remaining).toBeGreaterThan(2_900);
  });

  it('that was made before the last reply is outdated', async () => {
    const { hold } = await wait();
    fixture.events.granted('n', [grant(90)], 3_000);
    await settle();

    expect(hold).toEqual({});
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('that comes while a request is under way is used only once the answer shows it to be newer', async () => {
    const { hold } = await wait();
    await fixture.clock.advance(1_000);
    const again = await fixture.store.next('acquire');
    fixture.events.granted('n', [grant(200)], 3_000);
    await settle();
    expect(hold).toEqual({});
    await again.answer(taken(150));

    expect(hold.value?.fencingToken).toBe(200);
  });

  it('that comes while a request is under way is forgotten when the answer shows it to be older', async () => {
    const { hold } = await wait();
    await fixture.clock.advance(1_000);
    const again = await fixture.store.next('acquire');
    fixture.events.granted('n', [grant(200)], 3_000);
    await again.answer(taken(250));

    expect(hold).toEqual({});
  });

  it('that too few replicas confirmed is forgotten after its release', async () => {
    const replicas = { min: 1, timeout: 50 };
    const { hold } = await wait({ replicas });
    const next = observe(fixture.acquire());
    await fixture.clock.advance(1_000);
    const again = await fixture.store.next('acquire');
    fixture.events.granted('n', [grant(200)], 3_000);
    await again.fail(new TooFewReplicas([grant(200)], replicas));
    await fixture.store.answer('release', true);
    await fixture.store.answer('acquire', grant(300));

    expect(hold.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(next.value).toMatchObject({ fencingToken: 300, how: 're-ask' });
  });

  it('whose message arrives twice counts once', async () => {
    const { hold } = await wait();
    fixture.events.granted('n', [grant(200)], 3_000);
    fixture.events.granted('n', [grant(200)], 3_000);
    await settle();

    expect(hold.value?.held).toBe(true);
    expect(fixture.store.unseen('release')).toBe(0);
    expect(fixture.engine.leases.size).toBe(1);
  });

  it('that no caller wants is released', async () => {
    const aborter = new AbortController();
    await wait({ signal: aborter.signal });
    aborter.abort();
    fixture.events.granted('n', [grant(200)], 3_000);

    expect((await fixture.store.next('release')).request).toEqual({ name: 'n', owner: 'me:200' });
  });

  it('that was on its way when the last caller aborted is released, and never adopted', async () => {
    const aborter = new AbortController();
    await wait({ signal: aborter.signal });
    aborter.abort();
    await fixture.store.answer('cancel', ['me:200']);

    expect((await fixture.store.next('release')).request).toEqual({ name: 'n', owner: 'me:200' });
    // Its release may arrive late.
    observe(fixture.acquire());
    expect((await fixture.store.next('acquire')).request.endedToken).toBe(200);
  });

  it('is followed by a re-ask under the same place at least every second', async () => {
    const { place } = await wait({ ttl: 30_000, wait: 60_000 });
    for (let i = 0; i < 5; i++) {
      await fixture.clock.advance(1_000);
      const again = await fixture.store.next('acquire');
      expect(again.request.place).toBe(place);
      await again.answer(taken(100 + i));
    }
    expect(place).toBeDefined();
  });

  it('is followed by a re-ask every third of a short ttl', async () => {
    await wait({ ttl: 600 });
    await fixture.clock.advance(200);

    expect(fixture.store.unseen('acquire')).toBe(1);
  });

  it('is followed by a re-ask when the lease of the holder ends', async () => {
    const waiting = observe(fixture.acquire({ ttl: 30_000 }));
    await fixture.store.answer('acquire', taken(100, 70));
    await fixture.clock.advance(72);
    await fixture.store.answer('acquire', grant(200));

    expect(waiting.value?.held).toBe(true);
  });

  it('is followed by a re-ask after the request in flight when the inbox is subscribed meanwhile', async () => {
    fixture.store.hears = false;
    observe(fixture.acquire());
    const first = await fixture.store.next('acquire');
    fixture.store.hears = true;
    fixture.events.subscribed();
    expect(fixture.store.unseen('acquire')).toBe(0);
    await first.answer(taken(100));
    const again = await fixture.store.next('acquire');

    expect(first.request.place).toBeUndefined();
    expect(again.request.place).toBeDefined();
  });
});
