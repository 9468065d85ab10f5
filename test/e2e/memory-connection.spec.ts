import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { type TestingModule } from '@nestjs/testing';
import { LockService, RedisLockModule, type RedisLockModuleOptions } from '../../lib/index.js';
import { endingAfterEachTest } from '../support/during-tests.js';
import { listed } from '../support/listed.js';
import { printedBy, spawnTypeScript } from '../support/typescript-process.js';
import { startModule } from './support/start-module.js';

const WHERE = "connection is 'memory': the locks are in this process, and no other process sees them.";

describe("An application with connection: 'memory'", () => {
  const closing = endingAfterEachTest();
  let log: jest.SpiedFunction<Logger['log']>;
  let warn: jest.SpiedFunction<Logger['warn']>;

  beforeEach(() => {
    log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  });
  afterEach(() => jest.restoreAllMocks());

  async function start(options: RedisLockModuleOptions = {}): Promise<TestingModule> {
    const locks = RedisLockModule.forRootAsync({ useFactory: () => ({ connection: 'memory', ...options }) });
    return closing(await startModule({ imports: [locks] }));
  }

  /** The lines of this package, not those of Nest. */
  function linesOf({ mock }: typeof log): unknown[] {
    return mock.calls.flatMap(([line], i) =>
      Reflect.get(mock.contexts[i] ?? {}, 'context') === 'RedisLock' ? [line] : [],
    );
  }

  it('logs one line at the start, which says that no other process sees the locks', async () => {
    const module = await start();
    await module.get(LockService).using('a', () => {});

    expect(linesOf(log)).toEqual([WHERE]);
    expect(linesOf(warn)).toEqual([]);
  });

  it('separates locks by keyPrefix, and lists and releases them', async () => {
    const one = (await start()).get(LockService);
    const same = (await start()).get(LockService);
    const other = (await start({ keyPrefix: 'other:' })).get(LockService);
    const lock = await one.acquire('a');

    expect((await listed(same)).map(({ name }) => name)).toEqual(['a']);
    expect(await same.tryAcquire('a')).toBeUndefined();
    expect(await other.using('a', ({ held }) => held)).toBe(true);
    expect(await same.forceRelease('a')).toBe(true);
    await expect(lock.extend()).rejects.toMatchObject({ reason: 'forced' });
  });

  it.each([
    ['n', 'exclusive'],
    ['n', 'shared'],
    ['m,n', 'exclusive'],
  ])('keeps the process alive while callers wait for %s (%s), and not longer', async (...args) => {
    const script = spawnTypeScript(join(__dirname, 'support/waiting-in-memory.script.ts'), args);

    expect(await printedBy(script)).toEqual({ output: 'granted, closed', errors: '' });
  });

  it('warns in production', async () => {
    const before = process.env['NODE_ENV'];
    process.env['NODE_ENV'] = 'production';
    try {
      await start();
    } finally {
      process.env['NODE_ENV'] = before;
    }

    expect(linesOf(warn)).toEqual([
      `${WHERE} In production, set connection to the Redis that all instances share.`,
    ]);
    expect(linesOf(log)).toEqual([]);
  });
});
