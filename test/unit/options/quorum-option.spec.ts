import { Redis } from 'ioredis';
import { LockConfigError } from '../../../lib/errors/lock.error.js';
import type { RedisLockModuleOptions } from '../../../lib/options/module-options.interface.js';
import { createLockService } from '../../../lib/nest/module/lock-module.definition.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';

function urls(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `redis://10.0.0.${i + 1}:6379`);
}

function refusal(options: RedisLockModuleOptions): string {
  const refused = ((): unknown => {
    try {
      return resolveModuleOptions(options);
    } catch (error) {
      return error;
    }
  })();
  expect(refused).toMatchObject({ code: 'LOCK_CONFIG' });
  return (refused as Error).message;
}

describe('a list of connections', () => {
  it.each([3, 5, 7])('makes a quorum of %d', (count) => {
    expect(resolveModuleOptions({ connection: urls(count) }).connection).toEqual(urls(count));
  });

  it.each([0, 1, 2])('is rejected with %d nodes, because no majority would survive', (count) => {
    expect(refusal({ connection: urls(count) })).toContain('no majority survives the loss of one');
  });

  it.each([4, 6])('is rejected with %d nodes, with the reason against an even number', (count) => {
    expect(refusal({ connection: urls(count) })).toContain('survives no more losses than one node fewer');
  });

  const client = new Redis({ lazyConnect: true, host: '10.0.0.1' });
  it.each<[string, RedisLockModuleOptions['connection'] & readonly unknown[]]>([
    ['the same URL', ['redis://a', 'redis://b', 'redis://a']],
    ['a URL with its default port', ['redis://a', 'redis://b', 'redis://a:6379']],
    ['two databases of one server', ['redis://a/0', 'redis://b', 'redis://a/1']],
    ['options and a URL', [{ host: 'a' }, 'redis://b', 'redis://A:6379']],
    ['two names of this machine', [{ port: 6379 }, 'redis://b', 'redis://localhost']],
    ['one client', [client, 'redis://b', client]],
    ['a client and its address', [client, 'redis://b', 'redis://10.0.0.1']],
  ])('is rejected if it contains a Redis twice: %s', (_what, connection) => {
    expect(refusal({ connection })).toContain('connection[0] and connection[2] are the same Redis');
  });

  it('may name servers on several ports of one machine', () => {
    const connection = [7001, 7002, 7003].map((port) => ({ port }));
    expect(resolveModuleOptions({ connection }).connection).toEqual(connection);
  });

  it('rejects a preset with shared mode, with the reason', () => {
    const presets = { report: { mode: 'shared', limit: 2 } } as const;
    expect(refusal({ connection: urls(3), presets })).toContain(
      "presets.report: mode: 'shared' cannot be combined with a quorum",
    );
  });

  it('is rejected if one node is invalid, with its index', () => {
    expect(refusal({ connection: ['redis://a', 'http://b', 'redis://c'] })).toContain('connection[1]');
  });

  it('shows no credentials when it is refused', () => {
    const connection = ['redis://:secret@a', 'redis://b', 'redis://:secret@a'];
    expect(refusal({ connection })).not.toContain('secret');
  });
});

describe('nodeTimeout', () => {
  it('is 50 ms unless it is given', () => {
    expect(resolveModuleOptions({ connection: urls(3) }).nodeTimeout).toBe(50);
    expect(resolveModuleOptions({ connection: urls(3), advanced: { nodeTimeout: 5 } }).nodeTimeout).toBe(5);
  });

  it.each([0, -1, Number.NaN, Infinity])('is refused as %p', (nodeTimeout) => {
    expect(refusal({ connection: urls(3), advanced: { nodeTimeout } })).toContain('nodeTimeout');
  });

  it('is refused when it uses up more than a quarter of the lease', () => {
    expect(refusal({ connection: urls(3), ttl: 1_000, advanced: { nodeTimeout: 251 } })).toContain(
      'a quarter of ttl',
    );
    expect(
      resolveModuleOptions({ connection: urls(3), ttl: 1_000, advanced: { nodeTimeout: 250 } }).nodeTimeout,
    ).toBe(250);
  });

  it('does not matter for one Redis', () => {
    expect(resolveModuleOptions({ ttl: 100 }).nodeTimeout).toBe(50);
  });
});

describe('A Redis Cluster', () => {
  it('is no node of a quorum', () => {
    const nodes = [{ nodes: [7000] }, 'redis://b', 'redis://c'] as unknown as string[];
    expect(refusal({ connection: nodes })).toContain('connection[0] cannot be a node of the quorum');
  });

  it('does not go with replicas', () => {
    expect(refusal({ connection: { nodes: [7000] }, replicas: { min: 1 } })).toContain(
      'replicas cannot be combined with a Redis Cluster',
    );
  });
});

describe('An option for one master', () => {
  it.each([
    { replicas: { min: 1 } },
    { advanced: { wake: 'poll' as const } },
    { advanced: { layout: 'per-name' as const } },
  ])('is refused with a quorum: %j', (option) => {
    expect(refusal({ connection: urls(3), ...option })).toContain('cannot be combined with a quorum');
    expect(() => resolveModuleOptions(option)).not.toThrow();
  });

  it('is rejected with a quorum when a call sets it', async () => {
    // Lazy, for there is nobody at these addresses.
    const connection = urls(3).map((url) => new Redis(url, { lazyConnect: true }));
    const locks = createLockService(resolveModuleOptions({ connection }));
    await expect(locks.acquire('n', { replicas: { min: 1 } })).rejects.toThrow(LockConfigError);
    await locks.close();
  });
});
