import { networkInterfaces } from 'node:os';
import { isQueued } from '../../contract/observe.js';
import { Instance } from '../../redis/instance.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';

const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
const [suite, reason] = HAS_IPV6 ? [describe, ''] : [describe.skip, ' (skipped: this machine has no ::1)'];

suite(`A Redis that listens on IPv6 only${reason}`, () => {
  const server = duringTests(() => RedisServer.start({ config: { bind: '::1' } }));

  it.each([
    ['a URL', (port: number) => `redis://[::1]:${port}/3`],
    ['ioredis options', (port: number) => ({ host: '::1', port, db: 3 })],
  ])('is reached through %s', async (_form, connectionTo) => {
    const connection = connectionTo(server.port);
    await using first = await new Instance({ connection }).warmUp();
    await using second = await new Instance({ connection }).warmUp();
    const lock = await first.locks.acquire('job');
    const waiting = second.locks.acquire('job');
    await isQueued(first.locks, 'job', 1);

    await lock.release();

    await using next = await waiting;
    expect(next.held).toBe(true);
    expect([...first.logged, ...second.logged]).toEqual([]);
  });
});
