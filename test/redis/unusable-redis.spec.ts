import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Cluster } from 'ioredis';
import { createClient } from 'redis';
import RedisParser from 'redis-parser';
import { nodeRedis } from '../../lib/node-redis/index.js';
import { Redaction } from '../../lib/store/redis/connection/redaction.js';
import { Certificate, HAS_OPENSSL } from '../support/certificate.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TlsFront } from '../support/tls-front.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker, type Worker } from '../support/worker.js';
import { Instance } from './instance.js';
import { IS_OVER_NODE_REDIS } from '../support/by-node-redis.js';
import type { ConnectingCalls, Outcome } from './connecting.worker.js';

const SECRET = 'p@ss:w/rd%41 ☃';
const USER = 'shop-user-7';
/** Milliseconds until a second attempt to connect, which comes after the test. */
const AMPLE = 20_000;

const [suite, why] = HAS_OPENSSL
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no openssl on PATH)'];

describe('A Redis that cannot be used', () => {
  /** Closes each connection after its first bytes, as a port that requires TLS does. */
  const hangUp = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end());
  });
  let hanging = 0;
  let server: RedisServer;
  let worker: Worker<ConnectingCalls>;

  beforeAll(async () => {
    [server, worker] = await Promise.all([
      RedisServer.start({ password: 'another' }),
      startWorker<ConnectingCalls>(join(__dirname, 'connecting.worker.ts')),
    ]);
    hangUp.listen(0, '127.0.0.1');
    await once(hangUp, 'listening');
    hanging = (hangUp.address() as AddressInfo).port;
  });
  afterAll(async () => {
    hangUp.close();
    await Promise.all([worker.kill(), server.stop()]);
  });

  /** Nothing breaks, and nothing that is printed anywhere has the credentials in it. */
  const expectHarmless = ({ printed, causes, logged, unhandled }: Outcome): void => {
    expect(unhandled).toEqual([]);
    expect(worker.running).toBe(true);
    const texts = [printed, ...causes, ...logged, worker.output].join('\n');
    for (const secret of [SECRET, encodeURIComponent(SECRET), JSON.stringify(SECRET).slice(1, -1), USER]) {
      expect(texts).not.toContain(secret);
    }
    expect(texts).not.toContain('Unhandled error event');
  };

  const credentials = `${USER}:${encodeURIComponent(SECRET)}`;

  it.each<
    [why: string, connection: () => Parameters<ConnectingCalls['attempt']>[0], line: RegExp, told: string]
  >([
    [
      'the password is wrong',
      () => `redis://:${encodeURIComponent(SECRET)}@127.0.0.1:${server.port}`,
      /^Redis cannot be used for locks: WRONGPASS/,
      'WRONGPASS',
    ],
    [
      'the user is unknown',
      () => `redis://${credentials}@127.0.0.1:${server.port}`,
      /^Redis cannot be used for locks: WRONGPASS/,
      'WRONGPASS',
    ],
    [
      'the password in ioredis options is wrong',
      () => ({ port: server.port, username: USER, password: SECRET }),
      /^Redis cannot be used for locks: WRONGPASS/,
      'WRONGPASS',
    ],
    ['no password is given', () => `redis://127.0.0.1:${server.port}`, /NOAUTH/, 'refused'],
    [
      'no server listens at the address',
      () => `redis://${credentials}@127.0.0.1:1/2`,
      /^Redis cannot be used for locks: connect ECONNREFUSED 127\.0\.0\.1:1$/,
      'Cannot connect to Redis (connect ECONNREFUSED 127.0.0.1:1): check the server, and the address in the option connection, so',
    ],
    [
      'no server listens at the path',
      () => ({ path: '/no-such.sock', password: SECRET }),
      /^Redis cannot be used for locks: connect ENOENT \/no-such\.sock$/,
      'Cannot connect to Redis (connect ENOENT /no-such.sock): check the server, and the address in the option connection, so',
    ],
    [
      'the host does not exist',
      () => `redis://${credentials}@no-such-host.invalid:6379`,
      /ENOTFOUND no-such-host\.invalid/,
      '(getaddrinfo ENOTFOUND no-such-host.invalid)',
    ],
  ])('because %s is a clear log line and LockUnavailableError', async (_why, connection, line, told) => {
    const outcome = await worker.call('attempt', connection());

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect([outcome.message, ...outcome.causes].join()).toContain(told);
    expect(outcome.logged).toEqual([expect.stringMatching(line)]);
    expectHarmless(outcome);
  });

  describe.each([
    ['the port is closed', '127.0.0.1', 1, 'ECONNREFUSED 127.0.0.1:1'],
    ['the host does not exist', 'no-such-host.invalid', 6_379, 'ENOTFOUND no-such-host.invalid'],
  ])('because %s', (_why, host, port, reason) => {
    const url = `redis://${credentials}@${host}:${port}`;

    const attempts: [string, string, () => Promise<Outcome>][] = [
      ['one Redis over node-redis', reason, () => worker.call('attemptByNodeRedis', { url })],
      ['a Cluster over node-redis', reason, () => worker.call('attemptByNodeRedis', { nodes: url })],
      [
        'Sentinel over node-redis',
        reason,
        () => worker.call('attemptByNodeRedis', { sentinel: { host, port } }),
      ],
    ];
    if (!IS_OVER_NODE_REDIS)
      attempts.push(
        [
          'a Cluster over ioredis',
          // ioredis hides a refused connection, but not an unknown host.
          port === 1 ? '127.0.0.1:1: Connection is closed' : reason,
          () => worker.call('attempt', { nodes: [url] }),
        ],
        [
          'Sentinel over ioredis',
          `All sentinels (${host}:${port}) are unreachable`,
          () => worker.call('attempt', { sentinels: [{ host, port }], name: 'master', password: SECRET }),
        ],
      );
    it.each(attempts)(
      '%s cannot be connected to, with the address and the option',
      async (_what, text, attempt) => {
        const outcome = await attempt();

        expect(outcome.code).toBe('LOCK_UNAVAILABLE');
        expect(outcome.message).toMatch(/^Cannot connect to Redis \(/);
        expect(outcome.message).toContain(text);
        expect(outcome.message).toContain('the address in the option connection');
        expect(outcome.logged.join('\n')).toContain(text);
        expectHarmless(outcome);
      },
    );
  });

  it('because something else answers is a log line and LockUnavailableError that say so', async () => {
    const imposter = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => imposter.listen(0, '127.0.0.1', resolve));
    const { port } = imposter.address() as AddressInfo;
    const outcome = await worker.call('attempt', `redis://${credentials}@127.0.0.1:${port}`);
    imposter.close();

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.logged[0]).toContain('does not speak the protocol of Redis');
    expect(outcome.message).toContain('does not speak the protocol of Redis');
    expect(outcome.message).not.toContain('Please report');
    expectHarmless(outcome);
  });

  it('because a sentinel quotes the credentials in its error is reported without them', async () => {
    const sentinel = createServer((socket) => {
      socket.on('error', () => {});
      const parser = new RedisParser({
        returnReply: (request) => {
          const [command, ...args] = request as string[];
          const quoted = args.map((arg) => `'${arg}'`).join(' ');
          socket.write(`-ERR unknown command '${command}', with args beginning with: ${quoted}\r\n`);
        },
        returnError: () => socket.destroy(),
      });
      socket.on('data', (bytes) => parser.execute(bytes));
    }).listen(0, '127.0.0.1');
    await once(sentinel, 'listening');
    const { port } = sentinel.address() as AddressInfo;
    const outcome = await worker.call('attempt', {
      sentinels: [{ host: '127.0.0.1', port }],
      name: 'master',
      sentinelUsername: USER,
      sentinelPassword: SECRET,
    });
    sentinel.close();

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.logged.join()).toContain("'***' '***'");
    expectHarmless(outcome);
  });

  suite(`that speaks TLS${why}`, () => {
    it.each(['attempt', 'attemptByNodeRedis'] as const)(
      'because its certificate is not trusted is an error that names the address and the option (%s)',
      async (call) => {
        await using certificate = await Certificate.create();
        await using front = await TlsFront.start(server, certificate);
        const url = `rediss://${credentials}@127.0.0.1:${front.port}`;
        const outcome = await (call === 'attempt' ? worker.call(call, url) : worker.call(call, { url }));

        expect(outcome.code).toBe('LOCK_UNAVAILABLE');
        expect(outcome.message).toContain(
          `Cannot connect to Redis by TLS (127.0.0.1:${front.port}: self-signed certificate): check the option connection`,
        );
        expect(outcome.logged).toEqual([
          `Redis cannot be used for locks: 127.0.0.1:${front.port}: self-signed certificate`,
        ]);
        expectHarmless(outcome);
      },
    );

    it('because it closes connections is a log line that does not mention TLS', async () => {
      await using certificate = await Certificate.create();
      await using front = await TlsFront.start({ port: hanging }, certificate);
      const { port } = front;
      const tls = { ca: certificate.certificate };
      const connection = { host: '127.0.0.1', port, tls, retryStrategy: () => AMPLE };
      await using instance = new Instance({ connection });
      instance.locks.connect();
      await waitFor(() => instance.logged.length > 0, { that: 'a log line' });

      expect(instance.logged).toEqual([
        `Redis cannot be used for locks: 127.0.0.1:${port} closes the connection.`,
      ]);
    });
  });

  it('because it speaks no TLS is LockUnavailableError that says so', async () => {
    const outcome = await worker.call('attempt', `rediss://${credentials}@127.0.0.1:${server.port}`);

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.message).toContain('check that this port speaks TLS');
    expectHarmless(outcome);
  });

  it.each([
    ['has no TLS', 'check that this port speaks TLS', true, () => server.port],
    ['hangs up', 'check whether this port requires TLS', false, () => hanging],
  ])('because it %s is a log line within 2 s', async (_what, line, isTls, port) => {
    const address = { host: '127.0.0.1', port: port() };
    // The line says what the client does at that moment: here it does the same all the time.
    const later = (): number => AMPLE;
    const socket = isTls ? { ...address, tls: true as const } : address;
    const connections = [
      { ...address, ...(isTls && { tls: {} }), retryStrategy: later },
      nodeRedis(createClient({ socket: { ...socket, reconnectStrategy: later } })),
    ];
    await Promise.all(
      connections.map(async (connection) => {
        await using instance = new Instance({ connection });
        const error: Promise<unknown> = instance.locks.acquire('n').catch((reason: unknown) => reason);
        await waitFor(() => instance.logged.length > 0, { timeout: 2_000, that: 'a log line' });
        expect(instance.logged).toEqual([expect.stringContaining(line)]);
        expect(String(await error)).toContain(line);
      }),
    );
  });

  it('because it closes a connection that worked is a log line that does not mention TLS', async () => {
    await using usable = await RedisServer.start();
    const connection = { host: '127.0.0.1', port: usable.port, retryStrategy: () => AMPLE };
    await using instance = new Instance({ connection });
    await instance.locks.using('n', () => undefined);
    await usable.client().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await waitFor(() => instance.logged.length > 0, { that: 'a log line' });

    expect(instance.logged).toEqual([
      `Redis cannot be used for locks: 127.0.0.1:${usable.port} closes the connection.`,
    ]);
  });

  it('because a proxy lost it is a log line also over node-redis, which reports no error', async () => {
    await using usable = await RedisServer.start();
    const proxy = await TcpProxy.start(usable);
    const socket = { host: '127.0.0.1', port: proxy.port };
    await using instance = new Instance({ connection: nodeRedis(createClient({ socket })) });
    await instance.locks.using('n', () => undefined);
    proxy.leadTo({ port: hanging });
    await usable.client().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await waitFor(() => instance.logged.length > 0, { that: 'a log line' });
    await proxy.close();

    // What the client does at that moment.
    const state = /(?:closes the connection|accepts the connection but does not reply)\.$/;
    expect(instance.logged).toEqual([expect.stringMatching(state)]);
  });

  it('because a Cluster that was passed in gets no reply is LockUnavailableError with its status', async () => {
    await using proxy = await TcpProxy.start(server);
    proxy.hold('toClient');
    const { host, port } = proxy;
    const connection = new Cluster([{ host, port }], { slotsRefreshTimeout: 600 });
    const failed = once(connection, 'error');
    await using instance = new Instance({ connection, outageTimeout: 100 });
    const reason = 'The status of the Redis client is "connecting"';

    await expect(instance.locks.acquire('n')).rejects.toThrow(reason);
    await failed;
    connection.disconnect();
  });

  it('for a reason that contains the password is reported without it, plain or encoded', () => {
    const redaction = new Redaction({ password: SECRET }, {}, { password: '' });
    const error = redaction.error(
      new Error(`AUTH ${SECRET} failed for redis://:${encodeURIComponent(SECRET)}@h`),
    );

    expect(error.message).toBe('AUTH *** failed for redis://:***@h');
    expect(String(error.stack)).not.toContain(SECRET);
    expect(redaction.text('nothing secret')).toBe('nothing secret');
  });

  it('at any of several addresses of a host is a log line with all of them', () => {
    const refused = ['connect ECONNREFUSED ::1:6379', 'connect ECONNREFUSED 127.0.0.1:6379'];
    const error = new AggregateError(refused.map((message) => new Error(message)));

    expect(new Redaction().error(error).message).toBe(refused.join('; '));
  });
});
