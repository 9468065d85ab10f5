import type { Redis } from 'ioredis';
import { doctor } from '../../lib/cli/doctor.command.js';
import { listed } from '../support/listed.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

/** Hosted services before several shards, such as ElastiCache Serverless, refuse scripts without a key. */
describe('Every script call names a key', () => {
  const servers: RedisServer[] = [];
  const monitors: Redis[] = [];
  let calls: string[][] = [];

  beforeAll(async () => {
    for (let i = 0; i < 3; i++) {
      const server = await RedisServer.start();
      servers.push(server);
      const monitor = await server.client().monitor();
      monitors.push(monitor);
      monitor.on('monitor', (_time: string, args: string[]) => {
        if (/^eval/i.test(args[0] ?? '')) calls.push(args);
      });
    }
  });
  beforeEach(() => void (calls = []));
  afterAll(async () => {
    for (const monitor of monitors) monitor.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  });

  const keyless = (): string[][] => calls.filter(([, , keys]) => Number(keys) === 0);
  const urls = (count: number): string[] => servers.slice(0, count).map(({ url }) => url);

  it.each([1, 3])('of acquires, lists and queries with labels, on %d servers', async (count) => {
    const [first = '', ...others] = urls(count);
    const connection = others.length === 0 ? first : [first, ...others];
    await using instance = await new Instance({ connection }).warmUp();
    await using other = await new Instance({ connection }).warmUp();
    await using lock = await instance.locks.acquire('order:42', { label: 'Orders.pay' });
    await waitFor(async () => (await other.locks.query('order:42')).held[0]?.label === 'Orders.pay');
    const listings = await listed(other.locks);

    expect(listings.map(({ name }) => name)).toEqual(lock.keys);
    expect(calls.some((args) => args.some((arg) => arg.includes('asked')))).toBe(true);
    expect(calls.length).toBeGreaterThan(5);
    expect(keyless()).toEqual([]);
  });

  it.each([1, 3])('of doctor, on %d servers', async (count) => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      await doctor({ url: urls(count), ttl: 30_000, commandTimeout: 1_000, nodeTimeout: 50, json: true });
    } finally {
      write.mockRestore();
    }
    expect(calls.length).toBeGreaterThan(100);
    expect(keyless()).toEqual([]);
  });
});
