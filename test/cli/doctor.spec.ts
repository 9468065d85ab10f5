import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { Redis } from 'ioredis';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { StrangeServer } from '../support/strange-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { CommandLine } from './support/command-line.js';
import { type Diagnosis, diagnose, HEALTHY, LOOSE } from './support/diagnosis.js';

describe('nest-redis-lock doctor', () => {
  const server = duringTests(() => RedisServer.start({ config: HEALTHY }));
  let redis: Redis;

  beforeAll(() => void (redis = server.client()));
  afterEach(() => redis.flushall());

  const look = (...args: readonly string[]): Promise<Diagnosis> => diagnose(['--url', server.url, ...args]);

  it('finds nothing wrong with a healthy server that has locks, in sentences and as JSON', async () => {
    await redis.set('lock:{job}', 'somebody', 'PX', 60_000);
    await redis.set('lock:fence', Date.now() * 1_000);
    await redis.zadd('lock:{job}:q', 1, 'a');
    await redis.pexpire('lock:{job}:q', 60_000);
    // They are another's, and in nobody's way.
    await redis.set('lock:other', 'for good');
    await redis.hset('lock:{user}:profile', 'a', 'b');
    await redis.hset('locks', 'a', 'b');

    const [plain, asJson] = await Promise.all([
      CommandLine.run(['doctor', ...LOOSE, '--url', server.url]),
      look(),
    ]);

    expect(plain).toMatchObject({ exitCode: 0, stderr: '' });
    expect(plain.stdout).not.toMatch(/^[!✗-]/m);
    expect(plain.stdout.match(/^✓ .*\.$/gm)).toHaveLength(asJson.findings.length);
    expect(asJson).toMatchObject({ exitCode: 0, verdict: 'healthy', bad: [] });
    const checks = ['reach', 'version', 'rights', 'writes', 'time', 'messages', 'role', 'wait'];
    const further = ['round-trip', 'eviction', 'persistence', 'keys', 'fence', 'clock'];
    expect(asJson.findings.map(({ check }) => check)).toEqual([...checks, ...further]);
    expect(await redis.keys('*')).toHaveLength(6);
  });

  it('marks sentences with ✓ ! ✗, and ends with the worst', async () => {
    await redis.config('SET', 'appendonly', 'no');
    const warned = await CommandLine.run(['doctor', ...LOOSE, '--url', server.url]);
    await redis.set('lock:{job}', 'for good');
    const failed = await CommandLine.run(['doctor', ...LOOSE, '--url', server.url]);
    await redis.config('SET', 'appendonly', 'yes');

    expect(warned.exitCode).toBe(1);
    expect(warned.stdout).toMatch(/^! A crash loses .*set appendonly\.$/m);
    expect(failed.exitCode).toBe(2);
    expect(failed.stdout).toMatch(/^✗ lock:\{job\} never expires.*\.$/m);
  });

  it('finds a policy that evicts locks, and keys that were evicted', async () => {
    await redis.config('SET', 'maxmemory-policy', 'volatile-ttl');
    const unlimited = await look();
    await redis.config('SET', 'maxmemory', '1gb');
    const limited = await look();
    await redis.set('lock:{job}', 'somebody', 'PX', 60_000);
    await redis.config('SET', 'maxmemory', '1');
    await waitFor(async () => (await redis.exists('lock:{job}')) === 0, { that: 'the lock to be evicted' });
    await redis.config('SET', 'maxmemory', '0');
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    const evicted = await look();
    await redis.config('RESETSTAT');

    expect(unlimited).toMatchObject({ exitCode: 1, bad: ['warning eviction'] });
    expect(limited).toMatchObject({ exitCode: 2, bad: ['error eviction'] });
    expect(limited.said).toContain('volatile-ttl');
    expect(evicted).toMatchObject({ exitCode: 1, bad: ['warning eviction'] });
    expect(evicted.said).toMatch(/evicted \d+ keys/);
  });

  it('finds keys of another type, keys that never expire, and says when there are more', async () => {
    await redis.hset('lock:{hash}', 'a', 'b');
    await redis.set('lock:{queue}:q', 'text', 'PX', 60_000);
    for (let i = 1; i <= 7; i += 1) await redis.set(`lock:{old-${i}}`, 'for good');

    const { exitCode, bad, said } = await look();

    expect(exitCode).toBe(2);
    expect(said).toContain('lock:{hash} is a hash');
    expect(said).toContain('lock:{queue}:q is a string');
    expect(said.match(/lock:\{old-\d\} never expires/g)).toHaveLength(5);
    expect(said).toContain('There are 2 more such keys');
    expect(new Set(bad)).toEqual(new Set(['error keys']));
  });

  it('finds a counter of fencing tokens that is ahead of the clock', async () => {
    await redis.set('lock:fence', (Date.now() + 3_600_000) * 1_000);

    const { exitCode, bad, said } = await look();

    expect({ exitCode, bad }).toEqual({ exitCode: 1, bad: ['warning fence'] });
    expect(said).toContain('lock:fence is 60 min ahead');
  });

  it('finds that a restart forgets locks', async () => {
    await redis.config('SET', 'appendonly', 'no');
    const snapshots = await look();
    await redis.config('SET', 'save', '');
    const nothing = await look();
    await redis.config('SET', 'appendonly', 'yes');

    expect(snapshots).toMatchObject({ exitCode: 1, bad: ['warning persistence'] });
    expect(nothing).toMatchObject({ exitCode: 1, bad: ['warning persistence'] });
    expect(nothing.said).toContain('loses all locks');
  });

  it('finds that writes are rejected without enough replicas', async () => {
    await redis.config('SET', 'min-replicas-to-write', 1);
    const { exitCode, bad, said } = await look();
    await redis.config('SET', 'min-replicas-to-write', 0);

    expect({ exitCode, bad }).toEqual({ exitCode: 2, bad: ['error writes'] });
    expect(said).toContain('NOREPLICAS');
  });

  it('finds round trips that are too long for the application’s limits', async () => {
    await using proxy = await TcpProxy.start(server);
    proxy.delay(60);

    const times = ['--command-timeout', '100ms', '--ttl', '300ms'];
    const { exitCode, bad, said } = await diagnose(['--url', proxy.url, ...times]);

    expect({ exitCode, bad }).toEqual({ exitCode: 2, bad: ['error round-trip', 'warning round-trip'] });
    expect(said).toMatch(/too long for commandTimeout 100 ms/);
    expect(said).toMatch(/too long for ttl 300 ms/);
  });

  it('finds an old version, scripts without access to the time, and rejected commands', async () => {
    await using strange = await StrangeServer.start(server, { version: '6.2.14' });
    const old = await diagnose(['--url', strange.url]);
    strange.strangeness = {
      refused: {
        TIME: 'ERR This Redis command is not allowed from script',
        PEXPIRETIME: 'ERR unknown',
        ZADD: 'ERR syntax error',
      },
    };
    const without = await diagnose(['--url', strange.url]);

    expect(old).toMatchObject({ exitCode: 2, bad: ['error version'] });
    expect(old.said).toContain('6.2.14');
    expect(without).toMatchObject({ exitCode: 2, bad: ['error writes', 'error time'] });
    expect(without.said).toContain('not allowed from script');
  });

  it('finds that messages are not counted, refused, or not delivered', async () => {
    await using strange = await StrangeServer.start(server, { countsNobody: true });
    const uncounted = await diagnose(['--url', strange.url]);
    strange.strangeness = { refused: { PUBLISH: 'ERR PUBLISH is not for scripts' } };
    const refused = await diagnose(['--url', strange.url]);
    strange.strangeness = {};
    strange.withhold('tried ');
    const lost = await diagnose(['--url', strange.url]);

    for (const each of [uncounted, refused, lost])
      expect(each).toMatchObject({ exitCode: 1, bad: ['warning messages'] });
    expect(uncounted.said).toContain('does not count the receivers');
    expect(refused.said).toContain('PUBLISH is not for scripts');
    expect(lost.said).toContain('not delivered');
  });

  it('finds a server that is unreachable, is silent, or rejects the password', async () => {
    await using gone = await RedisServer.start();
    await gone.kill();
    await using frozen = await RedisServer.start();
    frozen.freeze();
    await using guarded = await RedisServer.start({ password: 'the right one' });
    const wrong = `redis://:wrong-one@127.0.0.1:${guarded.port}`;

    const [refused, silent, denied, anonymous, none] = await Promise.all([
      diagnose(['--url', gone.url]),
      diagnose(['--url', frozen.url]),
      diagnose(['--url', wrong]),
      diagnose(['--url', `redis://127.0.0.1:${guarded.port}`]),
      CommandLine.run(['doctor', '--url', 'nonsense']),
    ]);
    frozen.thaw();

    for (const each of [refused, silent, denied, anonymous])
      expect(each).toMatchObject({ exitCode: 2, verdict: 'errors', bad: ['error reach'] });
    expect(refused.said).toContain('ECONNREFUSED');
    expect(denied.said).toMatch(/WRONGPASS.*REDIS_PASSWORD/);
    expect(denied.said).not.toContain('wrong-one');
    expect(anonymous.said).toContain('NOAUTH');
    expect(none.exitCode).toBe(64);
  });

  it('finds a server of another protocol', async () => {
    const web = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await once(web.listen(0, '127.0.0.1'), 'listening');
    const { port } = web.address() as AddressInfo;
    const { bad, said } = await diagnose(['--url', `redis://127.0.0.1:${port}`]);
    web.close();

    expect(bad).toEqual(['error reach']);
    expect(said).toContain('It cannot be reached: it does not speak the protocol of Redis (check the port');
  });

  it('ends at Ctrl-C, and when its output is closed', async () => {
    await using proxy = await TcpProxy.start(server);
    // Without an answer, it does not end before it is interrupted.
    proxy.hold('toClient');
    const interrupted = CommandLine.start(['doctor', ...LOOSE, '--url', proxy.url]);
    await waitFor(() => proxy.connections > 0, { timeout: 30_000, that: 'it to begin' });
    interrupted.kill('SIGINT');
    const unread = CommandLine.start(['doctor', '--url', server.url]);
    unread.child.stdout?.destroy();

    expect((await interrupted.end()).signal).toBe('SIGINT');
    expect((await unread.end()).exitCode).toBe(141);
  });
});
