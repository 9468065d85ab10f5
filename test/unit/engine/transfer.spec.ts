import {
  formatDetached,
  newSecret,
  ownerOfDetached,
  parseDetached,
} from '../../../lib/engine/hold/detached-lock.js';
import type { Hold } from '../../../lib/engine/hold/hold.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { StoreRefusal } from '../../../lib/store/store-errors.js';
import { resolveFlatOptions } from '../../support/flat-options.js';
import { EngineFixture, observe } from './engine-fixture.js';
import { settle } from './manual-clock.js';
import { type StoreCall, taken } from './scripted-store.js';

describe('A hold that is detached', () => {
  let fixture: EngineFixture;
  let hold: Hold;

  beforeEach(async () => {
    fixture = new EngineFixture();
    hold = await fixture.hold({ ttl: 9_000 });
  });

  it('is not renewed meanwhile: no renewal finds it under another owner id', async () => {
    const detaching = observe(hold.detach());
    const call = await fixture.store.next('transfer');
    fixture.events.reconnected();
    await fixture.clock.advance(900);

    expect(fixture.store.unseen('extend')).toBe(0);
    expect(hold.held).toBe(false);
    await call.answer(true);
    expect(parseDetached(detaching.value).holds).toEqual([
      {
        name: 'n',
        instance: 'me',
        token: 100,
        minHold: 0,
        mode: 'exclusive' as const,
        permits: 1,
        ttl: 9_000,
      },
    ]);
    expect([fixture.engine.size, fixture.engine.leases.size]).toEqual([0, 0]);
  });

  it.each([
    ['renewal', () => fixture.clock.advance(3_000)],
    ['extension', async () => void observe(hold.extend())],
  ])('is not lost by a %s before it that arrives once more when it has left', async (_, ask) => {
    await ask();
    const renewal = await fixture.store.next('extend');
    const detaching = observe(hold.detach());
    const call = await fixture.store.next('transfer');
    await renewal.answer([false]);
    await call.answer(true);

    expect(detaching).toEqual({ value: expect.any(String) });
    expect(hold.signal.aborted).toBe(false);
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('continues without a reply, is returned in the store, and can be detached again', async () => {
    const detaching = observe(hold.detach());
    const call = await fixture.store.next('transfer');
    await fixture.clock.advance(2_000);

    expect(detaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', keys: ['n'] });
    const back = await fixture.store.next('transfer');
    expect(back.request).toMatchObject({ from: call.request.to, to: call.request.from, ttl: 9_000 });
    expect(hold.held).toBe(true);
    await fixture.clock.advance(2_000);
    await fixture.store.answer('extend', [true]);
    const again = observe(hold.detach());
    const second = await fixture.store.next('transfer');
    expect(second.request.to).not.toBe(call.request.to);
    await second.answer(true);
    expect(again.value).toEqual(expect.any(String));
  });

  it('continues if the store refuses, and reports the reason', async () => {
    const detaching = observe(hold.detach());
    const cause = new StoreRefusal('NOPERM');
    await fixture.store.fail('transfer', cause);

    expect(detaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', cause });
    expect(hold.held).toBe(true);
  });

  it('is not certain beyond the shorter requested lease, also without a reply', async () => {
    const detaching = observe(hold.detach(500));
    await fixture.store.next('transfer');
    await fixture.clock.advance(493);

    expect(detaching.error).toMatchObject({ code: 'LOCK_LOST' });
    expect(hold.signal.aborted).toBe(true);
  });

  it('is lost if its lease ends before the reply, and the transferred lock is released', async () => {
    const short = await fixture.hold({ ttl: 600, outageTimeout: 60_000 }, { name: 'short' });
    const detaching = observe(short.detach());
    const call = await fixture.store.next('transfer');
    await fixture.clock.advance(600);

    expect(short.signal.aborted).toBe(true);
    expect(detaching.error).toMatchObject({ code: 'LOCK_LOST' });
    // Its old owner id is freed when the hold is released.
    expect((await fixture.store.next('release')).request.owner).toBe(call.request.to);
    void short.release();
    expect((await fixture.store.next('release')).request.owner).toBe('me:100');
  });

  it('does not end by maxHold on its way', async () => {
    const bounded = await fixture.hold({ maxHold: 200 }, { name: 'bounded' });
    const detaching = observe(bounded.detach());
    const call = await fixture.store.next('transfer');
    await fixture.clock.advance(500);
    await call.answer(true);

    expect(detaching.value).toEqual(expect.any(String));
    expect(bounded.signal.aborted).toBe(false);
  });

  it('is released if a release was called and the transfer failed', async () => {
    const detaching = observe(hold.detach());
    const releasing = observe(hold.release());
    await fixture.store.next('transfer');
    await settle();
    expect(fixture.store.unseen('release')).toBe(0);
    await fixture.clock.advance(2_000);

    expect(detaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await fixture.store.answer('release', true);
    expect(releasing).toHaveProperty('value');
  });

  it('lets local waiters ask in the store', async () => {
    const waiting = observe(fixture.acquire());
    void hold.detach();
    await fixture.store.answer('transfer', true);
    const call = await fixture.store.next('acquire');
    expect(call.request.place).toBeDefined();
    await call.answer(taken(200));

    expect(waiting).toEqual({});
  });
});

describe('A hold that is attached', () => {
  const handed = {
    name: 'n',
    instance: 'other',
    token: 70,
    minHold: 0,
    mode: 'exclusive' as const,
    permits: 1,
    ttl: 60_000,
  };
  const secret = newSecret();
  const from = ownerOfDetached(secret, handed);
  let fixture: EngineFixture;
  const attach = (options: LockOptions = {}): { value?: Hold; error?: unknown } =>
    observe(
      fixture.engine
        .attach({ secret, holds: [handed] }, resolveLockOptions(LOCK_OPTION_DEFAULTS, options))
        .then(([hold]) => hold as Hold),
    );

  beforeEach(() => {
    fixture = new EngineFixture();
  });

  it('counts its lease from the request, not from the reply', async () => {
    const attaching = attach({ ttl: 1_000, renew: false });
    const call = await fixture.store.next('transfer');
    await fixture.clock.advance(600);
    await call.answer(true);

    expect(attaching.value?.remaining).toBeLessThanOrEqual(400);
  });

  it('is undone if the reply arrives after its lease, or without a waiting caller', async () => {
    const late = attach({ ttl: 500, outageTimeout: 5_000 });
    const call = await fixture.store.next('transfer');
    await fixture.clock.advance(600);
    await call.answer(true);
    const back = await fixture.store.next('transfer');
    expect(back.request).toMatchObject({ from: call.request.to, to: from });
    expect(late).toEqual({});
    await back.answer(true);
    expect(late.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });

    const given = attach({ outageTimeout: 300 });
    const next = await fixture.store.next('transfer');
    await fixture.clock.advance(300);
    await next.answer(true);
    const last = await fixture.store.next('transfer');
    expect(last.request).toMatchObject({ from: next.request.to, to: from });
    expect(given).toEqual({});
    await last.answer(true);
    expect(given.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', keys: ['n'] });
    expect(String(given.error)).not.toContain('may have attached');
  });

  it('rejects its caller after two seconds more if nothing says whether it was undone', async () => {
    const attaching = attach({ outageTimeout: 300 });
    const call = await fixture.store.next('transfer');
    await fixture.clock.advance(300);
    await fixture.clock.advance(1_500);
    expect(attaching).toEqual({});
    await fixture.clock.advance(800);
    expect(attaching.error).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('Redis may have attached the hold: this process returns it') as string,
    });
    await call.answer(true);
    expect((await fixture.store.next('transfer')).request).toMatchObject({ from: call.request.to, to: from });
  });

  it('is lost if another taker has it when the attempt is undone', async () => {
    const attaching = attach({ outageTimeout: 40 });
    await fixture.store.fail('transfer', new Error('Connection is closed.'));
    await fixture.clock.advance(50);
    await fixture.store.answer('transfer', 'taken');

    expect(attaching.error).toMatchObject({ code: 'LOCK_LOST', keys: ['n'] });
  });

  it('is undone before its caller is rejected if the client had sent a refused request twice', async () => {
    const attaching = attach();
    const call = await fixture.store.next('transfer');
    fixture.events.reconnected();
    await call.fail(new StoreRefusal('NOPERM'));
    const back = await fixture.store.next('transfer');
    expect(back.request).toMatchObject({ from: call.request.to, to: from });
    expect(attaching).toEqual({});
    await back.fail(new StoreRefusal('NOPERM'));

    expect(attaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(String(attaching.error)).toContain('Redis may have attached the hold');
  });

  it('is requested again after an error, with the same request', async () => {
    const attaching = attach();
    const call = await fixture.store.next('transfer');
    await call.fail(new Error('LOADING'));
    await fixture.clock.advance(50);
    const again = await fixture.store.next('transfer');
    expect(again.request).toEqual(call.request);
    await again.answer(true);

    expect(attaching.value?.held).toBe(true);
  });

  it('is undone if the caller aborted after errors with an unknown outcome', async () => {
    const attaching = attach({ outageTimeout: 40 });
    const call = await fixture.store.next('transfer');
    await call.fail(new Error('Connection is closed.'));
    await fixture.clock.advance(50);
    const back = await fixture.store.next('transfer');
    expect(back.request).toMatchObject({ from: call.request.to, to: from });
    await back.answer(true);

    expect(attaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  });

  it('is requested a second time only when the first attempt has no request in flight', async () => {
    const aborter = new AbortController();
    const first = attach({ signal: aborter.signal });
    const call = await fixture.store.next('transfer');
    aborter.abort(new Error('enough'));
    const second = attach();
    await settle();
    expect(fixture.store.unseen('transfer')).toBe(0);
    await call.answer(true);
    const back = await fixture.store.next('transfer');
    expect(first).toEqual({});
    await back.answer(true);
    expect(first.error).toBe(aborter.signal.reason);
    const next = await fixture.store.next('transfer');
    expect(next.request.to).not.toBe(call.request.to);
    await next.answer(true);

    expect(second.value?.held).toBe(true);
  });

  it('is rejected without a request if its caller leaves while another attempt is in flight', async () => {
    const aborter = new AbortController();
    const first = attach();
    const call = await fixture.store.next('transfer');
    const second = attach({ signal: aborter.signal });
    const third = attach();
    aborter.abort(new Error('enough'));
    await settle();
    expect(second.error).toBe(aborter.signal.reason);
    expect(fixture.store.unseen('transfer')).toBe(0);
    await call.answer(false);
    await fixture.store.answer('transfer', true);

    expect(first.error).toMatchObject({ code: 'LOCK_LOST' });
    expect(third.value?.held).toBe(true);
    expect(fixture.store.unseen('transfer')).toBe(0);
  });

  it('is undecided if its time ends before an earlier attempt for the same string', async () => {
    const first = attach({ outageTimeout: 5_000 });
    const call = await fixture.store.next('transfer');
    const second = attach({ outageTimeout: 300 });
    await fixture.clock.advance(300);

    expect(second.error).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('Redis may have attached the hold') as string,
    });
    await call.answer(true);
    expect(first.value?.held).toBe(true);
    expect(fixture.store.unseen('transfer')).toBe(0);
  });

  it('is requested again at once when the store can be reached again', async () => {
    const attaching = attach();
    for (const delay of [50, 100]) {
      await fixture.store.fail('transfer', new Error('Connection is closed.'));
      await fixture.clock.advance(delay);
    }
    await fixture.store.fail('transfer', new Error('Connection is closed.'));
    fixture.events.reconnected();
    await fixture.store.answer('transfer', true);

    expect(attaching.value?.held).toBe(true);
  });

  it('is requested by one caller after the other, also if one begins while another ends', async () => {
    const [first, second] = [attach(), attach()];
    await fixture.store.answer('transfer', false);
    const call = await fixture.store.next('transfer');
    const third = attach();
    await settle();
    expect(fixture.store.unseen('transfer')).toBe(0);
    await call.answer(true);
    await fixture.store.answer('transfer', false);

    expect([first.error, third.error]).toEqual([
      expect.objectContaining({ code: 'LOCK_LOST' }),
      expect.objectContaining({ code: 'LOCK_LOST' }),
    ]);
    expect(second.value?.held).toBe(true);
  });

  it('is rejected at once if the store refuses', async () => {
    const attaching = attach();
    const cause = new StoreRefusal('WRONGTYPE');
    await fixture.store.fail('transfer', cause);

    expect(attaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', cause });
  });

  it('is lost if the message of a forced release arrives before the reply', async () => {
    const attaching = attach();
    const call = await fixture.store.next('transfer');
    fixture.events.revoked('n', call.request.to);
    await call.answer(true);

    expect(attaching.error).toMatchObject({ code: 'LOCK_LOST', reason: 'forced' });
  });

  it('continues if another hold that is attached meanwhile is released forcibly', async () => {
    const attaching = attach();
    const call = await fixture.store.next('transfer');
    fixture.events.revoked('m', `${call.request.to}0`);
    fixture.events.revoked('n', 'me~0:70');
    await call.answer(true);

    expect(attaching.value?.held).toBe(true);
  });

  it('is not granted after shutdown began, but undone', async () => {
    const attaching = attach();
    const call = await fixture.store.next('transfer');
    fixture.engine.rejectAcquires();
    await settle();
    expect(attaching.error).toMatchObject({ code: 'LOCK_CLOSED' });
    await call.answer(true);

    expect((await fixture.store.next('transfer')).request).toMatchObject({ from: call.request.to, to: from });
  });

  it('does not end the listening of callers that wait for the name', async () => {
    const ignore = jest.fn();
    Object.assign(fixture.store, { ignore });
    const attaching = attach();
    await fixture.store.answer('transfer', true);
    void fixture.acquire({}, 'n');
    await fixture.store.answer('acquire', taken(100));
    void attaching.value?.release();
    await fixture.store.answer('release', true);

    expect(fixture.engine.waitersOf('n')).toBe(1);
    expect(ignore).not.toHaveBeenCalled();
  });

  it('is independent of local callers that wait for the name', async () => {
    const attaching = attach();
    await fixture.store.answer('transfer', true);
    const waiting = observe(fixture.acquire());
    await fixture.store.answer('acquire', taken(200));
    void attaching.value?.release();
    await fixture.store.answer('release', true);
    fixture.events.granted('n', [{ owner: 'me:300', token: 300, tokens: 1 }], 3_000);
    await settle();

    expect(waiting.value?.fencingToken).toBe(300);
  });
});

describe('Holds that are attached together', () => {
  const holds = ['a', 'b'].map((name, i) => ({
    name,
    instance: 'other',
    token: 70,
    minHold: 500,
    mode: i === 0 ? ('exclusive' as const) : ('shared' as const),
    permits: 1 + i,
    ttl: 60_000,
  }));
  const secret = newSecret();
  const transfer = formatDetached({ secret, holds });
  const owners = holds.map((hold) => ownerOfDetached(secret, hold));
  let fixture: EngineFixture;
  let attaching: { value?: Lock; error?: unknown };
  let call: StoreCall<'transfer'>;

  beforeEach(async () => {
    fixture = new EngineFixture();
    attaching = observe(new LockService(resolveFlatOptions({}), fixture.engine).attach(transfer));
    call = await fixture.store.next('transfer');
  });

  it('are requested at once', async () => {
    expect(call.request.changes.map(({ from }) => from)).toEqual(owners);
    await call.answer(true);

    expect(attaching.value).toMatchObject({ held: true, keys: ['a', 'b'] });
    expect(fixture.store.unseen('transfer')).toBe(0);
  });

  it('are all undone if they are unavailable, and their string stays valid', async () => {
    await call.fail(new Error('Connection is closed.'));
    await fixture.clock.advance(50);
    await fixture.store.fail('transfer', new StoreRefusal('NOPERM'));
    const back = await fixture.store.next('transfer');
    expect(back.request.changes).toEqual(
      call.request.changes.map(({ from, name, to }) => ({ name, from: to, to: from, ttl: 60_000 })),
    );
    await back.answer(true);

    expect(attaching.error).toMatchObject({ code: 'LOCK_UNAVAILABLE', keys: ['a', 'b'] });
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('are released if one is gone, but not if another taker may have them', async () => {
    await call.answer('gone');
    expect(attaching.error).toMatchObject({ code: 'LOCK_LOST', keys: ['a', 'b'] });
    const owned = call.request.changes.flatMap(({ from, to }) => [from, to]);
    const released = [];
    while (fixture.store.unseen('release') > 0)
      released.push((await fixture.store.next('release')).request.owner);
    expect(released).toEqual(owned);

    const other = observe(new LockService(resolveFlatOptions({}), fixture.engine).attach(transfer));
    await fixture.store.answer('transfer', 'taken');
    expect(other.error).toMatchObject({ code: 'LOCK_LOST' });
    expect(fixture.store.unseen('release')).toBe(0);
  });

  it('are released if one was released forcibly before the reply', async () => {
    const [, second] = call.request.changes;
    fixture.events.revoked('b', second?.to ?? '');
    await call.answer(true);

    expect(attaching.error).toMatchObject({ code: 'LOCK_LOST', reason: 'forced' });
    expect(fixture.store.unseen('release')).toBe(2);
  });
});
