import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { blockEventLoop } from '../support/block-event-loop.js';
import { duringEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';

/** Longer than the timeout below, and than Redis takes on a busy machine. */
const BLOCKED = 700;
const TIMEOUT = 500;

/** Until what was asked for in this turn has left the process: ioredis writes at its end, node-redis after it. */
function written(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

describe('An event loop that is blocked while Redis answers', () => {
  const server = duringEachTest(() => RedisServer.start());
  const instance = duringEachTest(() => {
    const limits = { outageTimeout: TIMEOUT, commandTimeout: TIMEOUT };
    return new Instance({ connection: server.url, ...limits }).warmUp();
  });

  const connections = async (): Promise<number> => {
    const info = await server.client().info('stats');
    return Number(/total_connections_received:(\d+)/.exec(info)?.[1]);
  };

  it('causes no outage error: the reply that waited to be read grants the lock', async () => {
    const acquiring = instance.locks.acquire('n');
    await written();
    blockEventLoop(BLOCKED);
    await using lock = await acquiring;
    expect(lock.held).toBe(true);
  });

  it('does not fail a request whose reply waited to be read', async () => {
    await using lock = await instance.locks.acquire('n');
    const extending = lock.extend(20_000);
    await written();
    blockEventLoop(BLOCKED);
    await extending;
    expect(lock.remaining).toBeGreaterThan(15_000);
  });

  const calls: readonly (readonly [string, (locks: LockService) => Promise<Lock | undefined>])[] = [
    ['an exclusive lock', (locks) => locks.acquire('n')],
    ['a shared lock', (locks) => locks.acquire('n', { mode: 'shared' })],
    ['a permit', (locks) => locks.acquire('n', { mode: 'shared', limit: 2 })],
    ['several names', (locks) => locks.acquire(['m', 'n'])],
    ['several shared names', (locks) => locks.acquire(['m', 'n'], { mode: 'shared' })],
    ['an attempt', (locks) => locks.tryAcquire('n')],
    ['a lock with a wait that ends meanwhile', (locks) => locks.acquire('n', { wait: TIMEOUT })],
  ];

  it.each(calls)('causes no outage error for %s whose request it delays', async (_, call) => {
    const acquiring = call(instance.locks);
    // What the engine asks for in this tick is not written before its end.
    for (let i = 0; i < 5; i++) await Promise.resolve();
    blockEventLoop(BLOCKED);
    await using lock = await acquiring;
    expect(lock?.held).toBe(true);
  });

  it('causes no outage error if it ends right before outageTimeout', async () => {
    const acquiring = instance.locks.acquire('n');
    blockEventLoop(TIMEOUT - 1);
    await using lock = await acquiring;
    expect(lock.held).toBe(true);
  });

  it('does not fail a request that it delayed', async () => {
    await using lock = await instance.locks.acquire('n');
    const extending = lock.extend(20_000);
    blockEventLoop(BLOCKED);
    await extending;
    expect(lock.remaining).toBeGreaterThan(15_000);
  });

  it('does not reject the attempt to attach a hold', async () => {
    const lock = await instance.locks.acquire('n');
    const attaching = instance.locks.attach(await lock.detach());
    blockEventLoop(BLOCKED);
    await using attached = await attaching;
    expect(attached.held).toBe(true);
  });

  it('does not replace a connection that is not silent', async () => {
    const before = await connections();
    const acquiring = instance.locks.acquire('n');
    await written();
    blockEventLoop(BLOCKED);
    await (await acquiring).release();
    // The one that asks.
    expect(await connections()).toBe(before + 1);
  });
});
