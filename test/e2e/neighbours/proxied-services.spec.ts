import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { CurrentLock, type Lock, Locked, LockService, Once, RedisLockModule } from '../../../lib/index.js';
import { startModule } from '../support/start-module.js';
import { duringEachTest } from '../../support/during-tests.js';

type Wrap = <T extends object>(object: T) => T;

/** What tracing agents, packages for async contexts and test doubles put before an instance. */
const WRAPS: readonly [name: string, wrap: Wrap][] = [
  ['a Proxy', (object) => new Proxy(object, {})],
  [
    'a Proxy that reads members of the instance',
    (object) => new Proxy(object, { get: (it, key) => Reflect.get(it, key) }),
  ],
  [
    'a Proxy that passes itself on',
    (object) => new Proxy(object, { get: (it, key, receiver) => Reflect.get(it, key, receiver) }),
  ],
  ['an object that inherits from it', (object) => Object.create(object)],
  ['two of them', (object) => Object.create(new Proxy(object, {}))],
];

/** A call of each method of the service. */
const CALLS: Record<string, (locks: LockService) => unknown> = {
  acquire: async (locks) => (await locks.acquire('a')).release(),
  tryAcquire: async (locks) => (await locks.tryAcquire(['a', 'b']))?.release(),
  using: (locks) => locks.using('a', () => locks.using('a', (lock) => lock.fencingToken)),
  once: (locks) => locks.once('a', { keep: '1h' }, () => 'done'),
  forget: (locks) => locks.forget('a'),
  current: (locks) => locks.using('a', (lock) => expect(locks.current('a')).toBe(lock)),
  query: (locks) => locks.query('a'),
  list: (locks) =>
    locks.using('a', async () => {
      for await (const { name } of locks.list()) expect(name).toBe('a');
    }),
  holds: (locks) => locks.using('a', () => expect(locks.holds()).toHaveLength(1)),
  forceRelease: (locks) => locks.forceRelease('a'),
  attach: async (locks) => (await locks.attach(await (await locks.acquire('a')).detach())).release(),
  lead: async (locks) => {
    const end = new AbortController();
    await locks.lead('a', () => end.abort(), { signal: end.signal });
  },
  enterOnce: async (locks) => ((await locks.enterOnce('b', { keep: '1ms' })) as Lock).release(),
  runInContext: async (locks) => {
    await using lock = await locks.acquire('a');
    locks.runInContext(lock, () => expect(locks.current()).toBe(lock));
  },
  connect: (locks) => locks.connect(),
  measureRoundTrip: (locks) => locks.measureRoundTrip(),
  checkHealth: (locks) => locks.checkHealth(1_000),
  beginShutdown: (locks) => locks.beginShutdown(),
  awaitHolders: (locks) => locks.awaitHolders(),
  close: (locks) => locks.close(),
};

/** A call of each method of a lock. */
const LOCK_CALLS: Record<string, (lock: Lock) => unknown> = {
  fencingTokenOf: (lock) => lock.fencingTokenOf(lock.keys[0] ?? ''),
  assertHeld: (lock) => lock.assertHeld(),
  extend: (lock) => lock.extend('1m'),
  release: (lock) => lock.release(),
  [Symbol.asyncDispose.toString()]: (lock) => lock[Symbol.asyncDispose](),
};

@Injectable()
class Orders {
  @Locked('order')
  async place(@CurrentLock() lock?: Lock): Promise<boolean | undefined> {
    return lock?.held;
  }

  @Once('report', { keep: '1ms' })
  async report(@CurrentLock() lock?: Lock): Promise<boolean | undefined> {
    return lock?.held;
  }
}

describe.each(WRAPS)('behind %s', (_name, wrap) => {
  const imports = [RedisLockModule.forRoot({ connection: 'memory', shutdownTimeout: 100 })];
  const app = duringEachTest(() => startModule({ imports, providers: [Orders] }));
  let locks: LockService;

  beforeEach(() => {
    locks = wrap(app.get(LockService));
  });

  const methods = Object.getOwnPropertyNames(LockService.prototype).filter((name) => name !== 'constructor');

  it.each(methods)('the service works: %s', async (method) => {
    const call = CALLS[method];
    if (call === undefined) throw new Error(`No test calls LockService.${method}() behind a Proxy.`);
    await call(locks);
    expect(app.get(LockService).holds()).toEqual([]);
  });

  it('the service of a locked method works', async () => {
    const module = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      providers: [Orders],
    })
      .overrideProvider(LockService)
      .useValue(locks)
      .compile();
    await module.init();
    expect(await module.get(Orders).place()).toBe(true);
    expect(await module.get(Orders).report()).toBe(true);
    await module.close();
  });

  it.each<[string, (work: (lock: Lock) => unknown) => Promise<unknown>]>([
    ['a name', async (work) => work(await locks.acquire('a'))],
    ['several names', async (work) => work(await locks.acquire(['a', 'b']))],
    ['a nested call', (work) => locks.using('a', async () => work(await locks.acquire('a')))],
    ['once', async (work) => work((await locks.enterOnce('a', { keep: '1ms' })) as Lock)],
  ])('the lock of %s works', async (_of, withLock) => {
    for (const call of Object.values(LOCK_CALLS)) {
      await withLock(async (lock) => {
        const wrapped = wrap(lock);
        await call(wrapped);
        await wrapped.release();
        expect([wrapped.held, wrapped.remaining, wrapped.signal.aborted]).toEqual([false, 0, false]);
      });
      expect(app.get(LockService).holds()).toEqual([]);
    }
  });
});
