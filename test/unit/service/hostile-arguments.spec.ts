import { isLockError, type Lock, type LockService } from '../../../lib/index.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';
import { MemoryLockServer } from '../../../lib/testing/index.js';
import { createMemoryLockService } from '../../../lib/testing/lock-testing.module.js';
import { listed } from '../../support/listed.js';
import { unreadable } from '../../support/unreadable.js';

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function trapped(target: object): object {
  return new Proxy(target, {
    get: unreadable,
    has: unreadable,
    ownKeys: unreadable,
    getPrototypeOf: unreadable,
    getOwnPropertyDescriptor: unreadable,
  });
}

/** Values that are neither a name, nor options, nor work, nor the value of an option. */
const WRONG: Record<string, unknown> = {
  null: null,
  true: true,
  '-1': -1,
  NaN,
  bigint: 1n,
  symbol: Symbol('a'),
  'nested array': [['a', 'b']],
  'array with null': ['a', null],
  'array of symbols': [Symbol('a'), Symbol('b')],
  'array of objects without a class': [Object.create(null), Object.create(null)],
  Promise: Promise.resolve('a'),
};

/** Values that throw when they are read, or while they are sorted. */
const UNREADABLE: Record<string, unknown> = {
  'sparse array': Array(3),
  'array with unreadable text': ['b', { toString: unreadable }, 'a'],
  'array with an accessor': Object.defineProperty(['a', 'b'], 1, { get: unreadable }),
  'array with a revoked Proxy': ['b', revoked({}), 'a'],
  'revoked array': revoked([]),
  'revoked object': revoked({}),
  'trapped array': trapped(['a']),
  'trapped object': trapped({}),
  'object whose class throws': Object.defineProperty({}, 'constructor', { get: unreadable }),
};

type Call = (locks: LockService, value: never) => unknown;

const work = (): Promise<string> => Promise.resolve('done');

/** The arguments of each method, with one of them replaced. */
const NAMES: Record<string, Call> = {
  acquire: (locks, name) => locks.acquire(name),
  tryAcquire: (locks, name) => locks.tryAcquire(name),
  using: (locks, name) => locks.using(name, work),
  once: (locks, name) => locks.once(name, { keep: 1_000 }, work),
  forget: (locks, name) => locks.forget(name),
  current: (locks, name) => locks.current(name),
  query: (locks, name) => locks.query(name),
  forceRelease: (locks, name) => locks.forceRelease(name),
  lead: (locks, name) => locks.lead(name, work),
  attach: (locks, transfer) => locks.attach(transfer),
};
const OPTIONS: Record<string, Call> = {
  acquire: (locks, options) => locks.acquire('name', options),
  tryAcquire: (locks, options) => locks.tryAcquire('name', options),
  using: (locks, options) => locks.using('name', options, work),
  once: (locks, options) => locks.once('name', options, work),
  list: (locks, options) => listed(locks, options),
  forceRelease: (locks, options) => locks.forceRelease('name', options),
  lead: (locks, options) => locks.lead('name', work, options),
  attach: (locks, options) => locks.attach('transfer', options),
};
const WORK: Record<string, Call> = {
  using: (locks, run) => locks.using('name', run),
  'using with options': (locks, run) => locks.using('name', { wait: 0 }, run),
  'using with options last': (locks, run) => Reflect.apply(locks.using, locks, ['name', work, run]),
  once: (locks, run) => locks.once('name', { keep: 1_000 }, run),
  lead: (locks, run) => locks.lead('name', run),
};
/** The values of single options. */
const VALUES: Record<string, Call> = Object.fromEntries([
  ...['ttl', 'label', 'preset', 'mode'].map((name): [string, Call] => [
    `acquire ${name}`,
    (locks, value) => locks.acquire('name', { [name]: value }),
  ]),
  ['once keep', (locks, keep) => locks.once('name', { keep }, work)],
  ['list limit', (locks, limit) => listed(locks, { limit })],
  ['list prefix', (locks, prefix) => listed(locks, { prefix })],
  ['forceRelease owners', (locks, owners) => locks.forceRelease('name', { owners })],
  ['lead onError', (locks, onError) => locks.lead('name', work, { onError })],
]);

const ALL = { ...WRONG, ...UNREADABLE };
const cases = (methods: Record<string, Call>, values: Record<string, unknown>) =>
  Object.entries(methods).flatMap(([method, call]) =>
    Object.entries(values).map(([kind, value]) => [method, kind, call, value as never] as const),
  );

describe('LockService, given', () => {
  let locks: LockService;
  let lock: Lock;
  const stray: unknown[] = [];
  const note = (reason: unknown): void => void stray.push(reason);

  beforeAll(async () => {
    locks = createMemoryLockService(resolveModuleOptions({ connection: 'memory' }), new MemoryLockServer());
    lock = await locks.acquire('name');
    process.on('unhandledRejection', note);
  });
  afterAll(async () => {
    process.off('unhandledRejection', note);
    await lock.release();
    await locks.close();
  });

  /** Expects an error of this package, in its words, that leaves all holds as they are. */
  async function expectRefusal(call: Call, value: never, codes: readonly string[]): Promise<void> {
    const error: unknown = await (async () => call(locks, value))().catch((thrown: unknown) => thrown);
    if (!isLockError(error)) throw new Error(`Settled without a lock error: ${String(error)}`);
    expect(codes).toContain(error.code);
    expect(error.message).not.toMatch(/proxy that|Cannot (?:read|convert|perform)|This value/);
    expect(locks.holds().map(({ name }) => name)).toEqual(['name']);
    await new Promise((resolve) => void setImmediate(resolve));
    expect(stray).toEqual([]);
  }

  it.each(cases(NAMES, { ...ALL, 'empty array': [], 'empty string': '' }))(
    'as the name of %s: %s, rejects it',
    async (_method, _kind, call, value) => {
      await expectRefusal(call, value, ['LOCK_KEY']);
    },
  );

  it.each(cases(OPTIONS, WRONG))('as options of %s: %s, rejects it', async (_method, _kind, call, value) => {
    await expectRefusal(call, value, ['LOCK_CONFIG']);
  });

  it.each(cases(WORK, ALL))('as work of %s: %s, rejects it', async (_method, _kind, call, value) => {
    await expectRefusal(call, value, ['LOCK_CONFIG']);
  });

  it.each(cases(VALUES, WRONG))('as the value of %s: %s, rejects it', async (_method, _kind, call, value) => {
    await expectRefusal(call, value, ['LOCK_CONFIG']);
  });

  it('a misspelt option of forceRelease, ends no hold', async () => {
    const owner = ['other'];
    await expectRefusal((_, options) => locks.forceRelease('name', options), { owner } as never, [
      'LOCK_CONFIG',
    ]);
    await expectRefusal((_, options) => locks.forceRelease('name', options), owner as never, ['LOCK_CONFIG']);
    expect(locks.holds()).toHaveLength(1);
  });
});
