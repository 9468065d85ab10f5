import type { Hold } from '../../../lib/engine/hold/hold.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle, settleAfter } from './manual-clock.js';
import { grant } from './scripted-store.js';

/** A request that a test answers, and what it was told. */
class Sent {
  releases: boolean | undefined;
  answer: (reply: boolean) => Promise<void> = settle;
  fail: (error: Error) => Promise<void> = settle;

  readonly send = (releases: boolean): Promise<boolean> => {
    this.releases = releases;
    return new Promise((resolve, reject) => {
      this.answer = (reply) => settleAfter(() => resolve(reply));
      this.fail = (error) => settleAfter(() => reject(error));
    });
  };
}

describe('A hold that is released by a request which does more', () => {
  let fixture: EngineFixture;
  let sent: Sent;

  const begin = async (options: LockOptions = {}, tokens = 1): Promise<Hold> => {
    fixture = new EngineFixture();
    sent = new Sent();
    return fixture.hold({ ttl: 9_000, ...options }, { tokens });
  };
  const nothingIsLeft = (): void => {
    expect([fixture.engine.size, fixture.engine.leases.size]).toEqual([0, 0]);
    for (const kind of ['acquire', 'release', 'extend'] as const) expect(fixture.store.unseen(kind)).toBe(0);
  };

  it('needs no other request, and is not renewed meanwhile', async () => {
    const hold = await begin();
    const ending = observe(hold.endBy(sent.send));
    const released = observe(hold.release());
    fixture.events.reconnected();
    await fixture.clock.advance(4_000);

    expect(sent.releases).toBe(true);
    expect(hold.held).toBe(false);
    expect(fixture.store.unseen('extend')).toBe(0);
    expect(released).toEqual({});
    await sent.answer(true);
    expect(ending).toEqual({ value: true });
    expect(released).toEqual({ value: undefined });
    nothingIsLeft();
  });

  it.each([
    ['has done nothing', () => sent.answer(false), { value: false }],
    ['is not answered', () => sent.fail(new Error('no reply')), { error: new Error('no reply') }],
  ])('is released by a second request if the first one %s', async (_, settleRequest, outcome) => {
    const hold = await begin();
    const ending = observe(hold.endBy(sent.send));
    await settleRequest();
    const release = await fixture.store.next('release');

    expect(release.request).toEqual({ name: 'n', owner: 'me:100' });
    await release.answer(true);
    expect(ending).toEqual(outcome);
    nothingIsLeft();
  });

  it('passes to no caller here without the store: the request may still arrive', async () => {
    const hold = await begin({}, 8);
    const next = observe(fixture.acquire());
    const ending = observe(hold.endBy(sent.send));
    await settle();
    expect(next).toEqual({});
    await sent.answer(true);
    const asked = await fixture.store.next('acquire');

    expect(ending).toEqual({ value: true });
    await asked.answer(grant(200));
    expect(next.value?.fencingToken).toBe(200);
  });

  it('yields to other instances before callers here if the request is not answered', async () => {
    const hold = await begin({}, 8);
    const next = observe(fixture.acquire());
    void observe(hold.endBy(sent.send));
    await sent.fail(new Error('no reply'));
    const yielded = await fixture.store.next('yield');

    expect(yielded.request.owner).toBe('me:100');
    await yielded.answer(grant(200));
    expect(next.value?.fencingToken).toBe(200);
  });

  it.each([
    [true, 0],
    [false, 1],
  ])('ends with its lease, if the reply %s comes later: %i releases follow', async (reply, releases) => {
    const hold = await begin();
    const ending = observe(hold.endBy(sent.send));
    await fixture.clock.advance(9_000);
    expect(fixture.engine.leases.size).toBe(0);
    await sent.answer(reply);

    expect(fixture.store.unseen('release')).toBe(releases);
    if (releases > 0) await fixture.store.answer('release', false);
    expect(ending).toEqual({ value: reply });
    nothingIsLeft();
  });

  it('continues for minHold', async () => {
    const hold = await begin({ minHold: 5_000 });
    const ending = observe(hold.endBy(sent.send));

    expect(sent.releases).toBe(false);
    await sent.answer(true);
    expect(ending).toEqual({ value: true });
    expect(hold.held).toBe(true);
  });

  it('is not released by it if it has been released before', async () => {
    const hold = await begin();
    void hold.release();
    void observe(hold.endBy(sent.send));

    expect(sent.releases).toBe(false);
  });
});
