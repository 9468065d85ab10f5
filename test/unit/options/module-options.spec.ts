import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { LockConfigError } from '../../../lib/index.js';
import { nodeRedis } from '../../../lib/node-redis/index.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';

const BAD_NODE = 'connection.nodes[0] must be { host, port }, a redis:// URL or a port';

const credentials = async (): Promise<{ password: string }> => ({ password: 'a' });

/** Options as plain JavaScript can pass them. */
function resolve(options: object): unknown {
  return resolveModuleOptions(options);
}

describe('the options of the module', () => {
  it('have defaults', () => {
    expect(resolve({})).toEqual({
      connection: undefined,
      keyPrefix: 'lock:',
      shutdownTimeout: 5_000,
      startupChecks: 'warn',
      commandTimeout: 1_000,
      nodeTimeout: 50,
      wake: 'pubsub',
      layout: 'common',
      maxResult: 65_536,
      http: {
        LOCK_KEY: 400,
        LOCK_TIMEOUT: 423,
        LOCK_DEADLOCK: 500,
        LOCK_QUEUE_FULL: 503,
        LOCK_UNAVAILABLE: 503,
        LOCK_LOST: 500,
        LOCK_CLOSED: 503,
        LOCK_CONFIG: 500,
      },
      defaults: {
        ttl: 30_000,
        wait: 10_000,
        maxWaiters: 10_000,
        signal: undefined,
        outageTimeout: 2_000,
        renew: true,
        maxHold: Infinity,
        minHold: 0,
        mode: 'exclusive',
        limit: Infinity,
        permits: 1,
        reentrant: true,
        namesHolder: true,
        origin: {},
      },
      presets: new Map(),
    });
  });

  it('replace the defaults one by one', () => {
    expect(
      resolve({
        ttl: 500,
        wait: Infinity,
        advanced: { nodeTimeout: 5 },
        http: { LOCK_TIMEOUT: 409 },
        keyPrefix: 'app:',
      }),
    ).toMatchObject({
      keyPrefix: 'app:',
      nodeTimeout: 5,
      commandTimeout: 1_000,
      http: { LOCK_TIMEOUT: 409, LOCK_KEY: 400 },
      defaults: { ttl: 500, wait: Infinity, renew: true },
    });
  });

  it('require no replicas for 0 or by default, with 100 ms by default', () => {
    expect(resolve({ replicas: { min: 2 } })).toMatchObject({
      defaults: { replicas: { min: 2, timeout: 100 } },
    });
    expect(resolve({ replicas: { min: 0 } })).toHaveProperty('defaults.replicas', undefined);
    expect(resolve({ replicas: undefined })).toHaveProperty('defaults.replicas', undefined);
  });

  it('may request credentials for a connection without a password', () => {
    for (const connection of [{ host: 'a' }, { password: '' }, 'redis://a'])
      expect(resolve({ connection, credentials })).toMatchObject({ connection, credentials });
  });

  it('may keep the locks in memory, with the other options of an application', () => {
    const advanced = { layout: 'per-name', wake: 'poll', commandTimeout: 500 };
    expect(resolve({ connection: 'memory', replicas: { min: 0 }, advanced })).toMatchObject({
      connection: 'memory',
      layout: 'per-name',
    });
  });

  it('leave errors alone with http: false', () => {
    expect(resolve({ http: false })).toMatchObject({ http: false });
  });

  it.each([
    [{ advanced: { commandTimeout: 0 } }, 'advanced.commandTimeout must be'],
    [{ advanced: 32 }, 'advanced must be a plain object, but is 32.'],
    [{ nodeTimeout: 50 }, 'There is no option nodeTimeout. Did you mean advanced.nodeTimeout?'],
    [{ lay_out: 'per-name' }, 'There is no option lay_out. Did you mean advanced.layout?'],
    [{ advanced: { nodeTimeouts: 1 } }, 'Did you mean advanced.nodeTimeout?'],
    [{ advanced: { wake: 'push' } }, "advanced.wake must be 'pubsub' or 'poll', but is \"push\"."],
    [
      { connection: 'memory', replicas: { min: 1 } },
      "replicas cannot be combined with connection: 'memory', which has no replicas.",
    ],
    [
      { connection: 'memory', presets: { safe: { replicas: { min: 1 } } } },
      "presets.safe: replicas cannot be combined with connection: 'memory'",
    ],
    [
      { connection: 'memory', credentials },
      "credentials cannot be combined with connection: 'memory', where no server requests them.",
    ],
    [
      { connection: ['memory', 'redis://a', 'redis://b'] },
      "connection[0] cannot be a node of the quorum: connection 'memory' is the memory of one process",
    ],
    [{ connection: 'Memory' }, 'is not a valid URL'],
    [
      { http: true },
      'http must be false, or a plain object with an HTTP status per error code, but is true.',
    ],
    [
      { http: { LOCK_TIMEOUT: 200 } },
      'http.LOCK_TIMEOUT must be a whole number, from 400 to 599, but is 200.',
    ],
    [{ http: { LOCK_TIMEOUTS: 409 } }, 'Did you mean http.LOCK_TIMEOUT?'],
    [{ keyPrefix: 'lock:{a}' }, 'keyPrefix must be a string without { } and control characters'],
    [{ keyPrefix: 'lock\n' }, 'keyPrefix must be'],
    [{ keyPrefix: 7 }, 'keyPrefix must be'],
    [{ timeout: 5_000 }, 'There is no option timeout. Did you mean wait?'],
    [
      { presets: { slow: { timeout: 5_000 } } },
      'There is no option presets.slow.timeout. Did you mean presets.slow.wait?',
    ],
    [
      { advanced: { timeout: 5_000 } },
      'There is no option advanced.timeout. Known here: advanced.commandTimeout',
    ],
    [{ conection: 'redis://x' }, 'Did you mean connection?'],
    [{ colour: 'red' }, 'There is no option colour. Known here: connection, credentials, keyPrefix'],
    [{ credentials: 'secret' }, 'credentials must be a function that resolves to'],
    [
      { connection: 'redis://a:b@c', credentials },
      'credentials cannot be combined with a password in connection: remove one of them.',
    ],
    [
      { connection: { password: 'b' }, credentials },
      'credentials cannot be combined with a password in connection',
    ],
    [
      { connection: [{ port: 1 }, { port: 2 }, 'redis://:b@c'], credentials },
      'credentials cannot be combined with a password in connection',
    ],
    [
      { connection: { nodes: [7000], options: { redisOptions: { password: 'b' } } }, credentials },
      'credentials cannot be combined with a password in connection',
    ],
    [{ connection: new Redis({ lazyConnect: true }), credentials }, 'a client that is passed in'],
    [{ connection: nodeRedis(createClient()), credentials }, 'give that client a credentialsProvider'],
    [
      [],
      'The options of RedisLockModule, as in forRoot({ … }) or useFactory: () => ({ … }), must be a plain object, but is an array of 0.',
    ],
    [Promise.resolve({}), 'must be a plain object, but is a Promise, which is not awaited.'],
    [
      { advanced: Promise.resolve({}) },
      'advanced must be a plain object, but is a Promise, which is not awaited.',
    ],
    [new Map([['ttl', 5]]), 'must be a plain object, but is an object (Map).'],
    [
      { presets: new Map([['few', { ttl: 50 }]]) },
      'presets must be a plain object with the options of each preset',
    ],
    [
      { presets: { few: new Map([['ttl', 50]]) } },
      'presets.few must be a plain object, but is an object (Map).',
    ],
    [{ http: new Map([['LOCK_TIMEOUT', 409]]) }, 'http must be false, or a plain object with an HTTP status'],
    [{ advanced: new Set() }, 'advanced must be a plain object, but is an object (Set).'],
    [{ connection: new Map([['host', 'cache']]) }, 'an object of ioredis options'],
  ])('are rejected if they cannot work: %p', (options, message) => {
    expect(() => resolve(options)).toThrow(LockConfigError);
    expect(() => resolve(options)).toThrow(message);
  });

  it('may be an instance of a class, or the namespace of an ES module', () => {
    class Options {
      ttl = '5s';
    }
    class Unset {}
    const namespace = Object.assign(Object.create(null) as object, {
      ttl: '5s',
      [Symbol.toStringTag]: 'Module',
    });

    expect(resolve(new Options())).toMatchObject({ defaults: { ttl: 5_000 } });
    expect(resolve(new Unset())).toMatchObject({ defaults: { ttl: 30_000 } });
    expect(resolve(namespace)).toMatchObject({ defaults: { ttl: 5_000 } });
  });

  it('are also rejected from accessors of a class', () => {
    class Options {
      get ttl(): number {
        return -1;
      }
    }

    expect(() => resolve(new Options())).toThrow('ttl must be');
  });
});

describe('the connection option', () => {
  it.each([
    'redis://127.0.0.1',
    'redis://127.0.0.1:6380/2',
    'valkey://cache:6380/2',
    'valkeys://me:secret@cache',
    'redis://cache?connectTimeout=1000&family=6&lazyConnect=true',
    'rediss://user:pass@cache.example:6380/0?family=6',
    'redis://:p%40ss@[::1]:6379',
  ])('accepts the URL %s', (connection) => {
    expect(resolve({ connection })).toMatchObject({ connection });
  });

  it('accepts ioredis options, those of sentinels too', () => {
    const connection = { sentinels: [{ host: 'a', port: 26_379 }], name: 'main' };
    expect(resolve({ connection })).toMatchObject({ connection });
    expect(resolve({ connection: { host: 'a', port: '6380' } })).toBeDefined();
  });

  it('accepts a ready client', () => {
    const connection = new Redis({ lazyConnect: true });
    expect(resolve({ connection })).toHaveProperty('connection', connection);
    connection.disconnect();
  });

  it('accepts the description of a Cluster, and a ready client of one', () => {
    const nodes = [7000, 'redis://cache:6379', { host: 'cache', port: '6379' }, { host: 'cache' }];
    expect(resolve({ connection: { nodes } })).toHaveProperty('connection', { nodes });
    const connection = new Cluster(['redis://127.0.0.1:1'], { lazyConnect: true });
    expect(resolve({ connection })).toHaveProperty('connection', connection);
  });

  it('takes an explicit undefined for a missing environment variable', () => {
    expect(() => resolve({ connection: undefined })).toThrow(
      'connection is undefined: is its environment variable missing?',
    );
  });

  it.each([
    ['', 'an empty string'],
    ['  ', 'an empty string'],
    ['localhost:6379', '"localhost:6379" is not a redis:// or rediss:// URL'],
    ['http://cache:6379', '"http://cache:6379" is not a redis:// or rediss:// URL'],
    ['redis://', 'has no host'],
    [
      'redis://cache?connectTimeout=soon',
      '"redis://cache" has the parameter connectTimeout, which is not a number',
    ],
    [
      'redis://:s3cret@cache?retryStrategy=s3cret',
      'has the parameter retryStrategy, but its query can set only',
    ],
    ['redis://cache?lazyConnect=maybe', 'has the parameter lazyConnect, which is neither true nor false'],
    [{ nodes: ['redis://cache?connectTimeout=1000'] }, 'connection.nodes[0] "redis://cache" has a query'],
    [['redis://a?x=1', 'redis://b', 'redis://c'], 'connection[0] cannot be a node of the quorum'],
    ['redis://cache/one', 'has a path that is not a database number'],
    ['redis://cache:99999', '"redis://cache:99999" is not a valid URL'],
    ['redis://:100%@cache', '"redis://***@cache" has a % that is not an escape: write it as %25'],
    [
      { nodes: ['redis://:100%@cache'] },
      'connection.nodes[0] "redis://***@cache" has a % that is not an escape',
    ],
    [[{ host: 'a' }, { host: 'b' }], 'must list an odd number of independent Redis servers'],
    [{ nodes: [] }, 'connection.nodes must be an array of at least one node of the Cluster'],
    [{ nodes: 'redis://cache:6379' }, 'connection.nodes must be an array'],
    [{ nodes: [{ host: 'cache', port: 0 }] }, BAD_NODE],
    [{ nodes: [7000, null] }, 'connection.nodes[1] must be'],
    [{ nodes: ['  '] }, BAD_NODE],
    [{ nodes: [7000], options: 'none' }, 'connection.options must be a plain object, but is "none".'],
    [{ nodes: [7000], option: {} }, 'There is no option connection.option. Did you mean connection.options?'],
    [new URL('redis://:s3cret@cache'), 'connection is a URL object: pass its text, url.href.'],
    [
      { url: 'redis://:s3cret@cache' },
      'connection has a url, which ioredis ignores: pass the URL itself, as text.',
    ],
    [
      createClient(),
      'connection is a client of node-redis: pass nodeRedis(client) of nest-redis-lock/node-redis.',
    ],
    [createCluster({ rootNodes: [] }), 'connection is a client of node-redis'],
    [
      { socket: { host: 'cache' } },
      'connection has options of node-redis: pass nodeRedis(createClient(options))',
    ],
    [
      ['redis://a', 'redis://b', { url: 'redis://c' }],
      'connection[2] cannot be a node of the quorum: connection has a url',
    ],
    [{ port: Number.NaN }, 'connection.port must be a whole number, from 1 to 65535, but is NaN.'],
    [{ port: 0 }, 'connection.port must be'],
    [{ db: -1 }, 'connection.db must be'],
    [{ sentinels: [], name: 'main' }, 'connection.sentinels must be an array of at least one { host, port }'],
    [{ sentinels: 'a:26379', name: 'main' }, 'connection.sentinels must be'],
    [{ sentinels: [{ host: 'a' }] }, 'connection.name must be the name under which the sentinels know'],
    [{ sentinels: [{ host: 'a' }], name: '' }, 'connection.name must be'],
    [{ sentinels: [{ host: 'a' }], name: 'main', role: 'slave' }, 'a replica grants no locks'],
    [null, 'but is null.'],
    [6379, 'but is 6379.'],
  ])('refuses %p', (connection, message) => {
    expect(() => resolve({ connection })).toThrow(LockConfigError);
    expect(() => resolve({ connection })).toThrow(message);
  });

  it.each([
    'http://me:s3cret@cache:6379',
    'redis://me:s3cret@cache:99999',
    'redis://:s3c#s3cret@cache',
    'redis://:s3cret/s3cret@cache:port',
    'redis://:a@s3cret@cache:port',
    'http://cache:6379?password=s3cret',
    'redis//:s3cret@cache:6379',
    's3cret',
  ])('never shows the credentials of %s', (connection) => {
    expect(() => resolve({ connection })).toThrow(LockConfigError);
    expect(() => resolve({ connection })).not.toThrow(/s3cret|me:/);
  });
});
