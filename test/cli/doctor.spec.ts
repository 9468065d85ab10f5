import type { Redis } from 'ioredis';
import { LEAST_CLUSTER_RIGHTS, LEAST_RIGHTS } from '../scripts/least-rights.js';
import { Certificate, HAS_OPENSSL } from '../support/certificate.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { ReplicaSet } from '../support/replica-set.js';
import { SentinelGroup } from '../support/sentinel-group.js';
import { StrangeServer } from '../support/strange-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TlsFront } from '../support/tls-front.js';
import { waitFor } from '../support/wait-for.js';
import { HAS_COMPILER, WrongClock } from '../support/wrong-clock.js';
import { CommandLine, json } from './support/command-line.js';

interface Finding {
  readonly server: string;
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'error' | 'skipped';
  readonly message: string;
}

interface Diagnosis {
  readonly exitCode: number | null;
  readonly verdict: string;
  readonly findings: readonly Finding[];
  /** Whatever is wrong, `<status> <check>`. */
  readonly bad: readonly string[];
  /** What is said of it. */
  readonly said: string;
}

/** A machine under load takes its time. */
const LOOSE = ['--ttl', '1h', '--command-timeout', '60s', '--node-timeout', '10s'];
const HEALTHY = { appendonly: 'yes' };

async function diagnose(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Diagnosis> {
  const result = await CommandLine.run(['doctor', '--json', ...LOOSE, ...args], env);
  const { exitCode, stderr } = result;
  expect(stderr).toBe('');
  const { findings, verdict } = json(result) as Pick<Diagnosis, 'findings' | 'verdict'>;
  const bad = findings.filter(({ status }) => status === 'warning' || status === 'error');
  return {
    exitCode,
    verdict,
    findings,
    bad: bad.map(({ check, status }) => `${status} ${check}`),
    said: bad.map(({ message }) => message).join('\n'),
  };
}

describe('nest-redis-lock doctor', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start({ config: HEALTHY });
    redis = server.client();
  });
  afterEach(() => redis.flushall());
  afterAll(() => server.stop());

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
    const further = ['round-trip', 'clock', 'eviction', 'persistence', 'keys', 'fence'];
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
    expect(warned.stdout).toMatch(/^! A crash forgets .*set appendonly\.$/m);
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
    expect(nothing.said).toContain('forgets all locks');
  });

  it('finds that writes are refused for want of replicas', async () => {
    await redis.config('SET', 'min-replicas-to-write', 1);
    const { exitCode, bad, said } = await look();
    await redis.config('SET', 'min-replicas-to-write', 0);

    expect({ exitCode, bad }).toEqual({ exitCode: 2, bad: ['error writes'] });
    expect(said).toContain('NOREPLICAS');
  });

  it('finds round trips that are too long for what the application allows', async () => {
    await using proxy = await TcpProxy.start(server);
    proxy.delay(60);

    const times = ['--command-timeout', '100ms', '--ttl', '300ms'];
    const { exitCode, bad, said } = await diagnose(['--url', proxy.url, ...times]);

    expect({ exitCode, bad }).toEqual({ exitCode: 2, bad: ['error round-trip', 'warning round-trip'] });
    expect(said).toMatch(/too long for commandTimeout 100 ms/);
    expect(said).toMatch(/too long for ttl 300 ms/);
  });

  it('finds an old version, scripts that may not ask for the time, and refused commands', async () => {
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
    expect(uncounted.said).toContain('counts nobody');
    expect(refused.said).toContain('PUBLISH is not for scripts');
    expect(lost.said).toContain('not delivered');
  });

  it('finds a server that cannot be reached, is silent, or takes no such password', async () => {
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

  it('ends at Ctrl-C, and where nobody reads its output', async () => {
    const interrupted = CommandLine.start(['doctor', '--url', server.url]);
    await waitFor(async () => ((await redis.client('LIST')) as string).includes('cmd=eval'), {
      timeout: 30_000,
      that: 'it to begin',
    });
    interrupted.kill('SIGINT');
    const unread = CommandLine.start(['doctor', '--url', server.url]);
    unread.child.stdout?.destroy();

    expect((await interrupted.end()).signal).toBe('SIGINT');
    expect((await unread.end()).exitCode).toBe(141);
  });
});

describe('nest-redis-lock doctor, as a user of few rights', () => {
  const enough = LEAST_RIGHTS.join(' ');
  const diagnoseAs = async (rights: string): Promise<Diagnosis> => {
    await using guarded = await RedisServer.start({
      config: HEALTHY,
      acl: ['user default off', `user app on >secret-word ${rights}`],
    });
    // The server is there until it has ended.
    return await diagnose(['--url', `redis://app:secret-word@127.0.0.1:${guarded.port}`]);
  };

  it('finds nothing wrong with those that an application needs, and says what it could not look at', async () => {
    const { exitCode, bad, findings } = await diagnoseAs(enough);

    expect({ exitCode, bad }).toEqual({ exitCode: 0, bad: [] });
    const unseen = findings.filter(({ status }) => status === 'skipped').map(({ check }) => check);
    expect(unseen).toEqual(['role', 'eviction', 'persistence', 'keys']);
  });

  it.each(['pexpire', 'zrange', 'mget', 'set'])('names %s where it is missing', async (name) => {
    const { exitCode, bad, said } = await diagnoseAs(`${enough} -${name}`);

    expect(exitCode).toBe(2);
    expect(bad).toContain('error rights');
    expect(said).toContain(`grant +${name}.`);
    expect(said.match(/grant \+\w+/g)).toHaveLength(1);
  });

  it.each([
    ['publish', `${enough} -publish`],
    ['subscribe', `${enough} -subscribe`],
    ['publish', enough.replace('&lock:inbox:*', 'resetchannels')],
  ])('says what follows where it may not %s', async (name, rights) => {
    const { exitCode, said } = await diagnoseAs(rights);

    expect(exitCode).toBe(1);
    expect(said).toContain(`may not ${name} on the channels`);
    expect(said).toContain('waiters ask ten times a second');
  });

  it('finds that the keys of locks are out of reach, and that no script can run', async () => {
    const [keys, scripts] = await Promise.all([
      diagnoseAs(enough.replace('~lock:*', '~other:*')),
      diagnoseAs(`${enough} -eval`),
    ]);

    for (const { exitCode, said } of [keys, scripts]) {
      expect(exitCode).toBe(2);
      expect(said).toContain('No script of locks can run: NOPERM');
    }
  });

  const [describeTls, reason] = HAS_OPENSSL
    ? [describe, '']
    : [describe.skip, ' (skipped: there is no openssl)'];

  describeTls(`over TLS${reason}`, () => {
    it('works, and says what is wrong with certificates', async () => {
      await using certificate = await Certificate.create();
      await using guarded = await RedisServer.start({
        config: HEALTHY,
        acl: ['user default off', `user app on >secret-word ${enough}`],
      });
      await using front = await TlsFront.start(guarded, certificate);
      const env = { REDIS_USERNAME: 'app', REDIS_PASSWORD: 'secret-word' };
      const flags = ['--url', `rediss://localhost:${front.port}`];

      const [trusted, unknown, plain] = await Promise.all([
        diagnose(flags, { ...env, NODE_EXTRA_CA_CERTS: certificate.file }),
        diagnose(flags, env),
        diagnose(['--url', `rediss://127.0.0.1:${guarded.port}`], env),
      ]);

      expect(trusted).toMatchObject({ exitCode: 0, bad: [] });
      expect(trusted.findings[0]?.message).toMatch(/over TLSv1/);
      expect(unknown).toMatchObject({ exitCode: 2, bad: ['error reach'] });
      expect(unknown.said).toContain('NODE_EXTRA_CA_CERTS');
      expect(plain).toMatchObject({ exitCode: 2, bad: ['error reach'] });
    });
  });
});

const [describeClocks, withoutClocks] = HAS_COMPILER
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no C compiler)'];

describeClocks(`nest-redis-lock doctor, where a server's clock is wrong${withoutClocks}`, () => {
  let clocks: WrongClock;

  beforeAll(async () => {
    clocks = await WrongClock.compile();
  });
  afterAll(() => clocks[Symbol.asyncDispose]());

  const diagnoseAt = async (ahead: number, rate: number): Promise<Diagnosis> => {
    await using server = await RedisServer.start({ config: HEALTHY, env: clocks.variables({ ahead, rate }) });
    return await diagnose(['--url', server.url]);
  };

  it.each([
    ['ahead', 3_600, '60 min ahead of'],
    ['behind', -3_600, '60 min behind'],
  ])('finds that it is %s', async (_, ahead, expected) => {
    const { exitCode, bad, said } = await diagnoseAt(ahead, 1);

    expect({ exitCode, bad }).toEqual({ exitCode: 1, bad: ['warning clock'] });
    expect(said).toContain(expected);
  });

  it('finds that it does not go as time does', async () => {
    const { exitCode, bad, said } = await diagnoseAt(0, 3);

    expect(exitCode).toBe(2);
    expect(bad).toContain('error clock');
    expect(said).toContain('was set forward');
  });
});

describe('nest-redis-lock doctor, where Redis is more than one', () => {
  it('finds a replica, a master without min-replicas-to-write, and replicas that do not confirm', async () => {
    await using set = await ReplicaSet.start(1);
    const { link, server: replica } = set.replica(0);
    const admin = set.master.client();
    await admin.config('SET', 'appendonly', 'yes');

    const [follower, master] = await Promise.all([
      diagnose(['--url', replica.url]),
      diagnose(['--url', set.master.url]),
    ]);
    await admin.config('SET', 'min-replicas-to-write', 1);
    const safe = await diagnose(['--url', set.master.url]);
    link.hold('toServer');
    const late = await diagnose(['--url', set.master.url]);
    link.pass();

    expect(follower.exitCode).toBe(2);
    expect(follower.bad).toEqual(expect.arrayContaining(['error writes', 'error role']));
    expect(follower.said).toContain(`It is a replica of ${link.host}:${link.port}`);
    expect(master).toMatchObject({ exitCode: 1, bad: ['warning min-replicas'] });
    expect(safe).toMatchObject({ exitCode: 0, bad: [] });
    expect(late.bad).toContain('warning wait');
    expect(late.said).toContain('Of 1 replica only 0 confirmed');
  });

  it('looks at each master of a Cluster, with few rights and SPUBLISH', async () => {
    await using cluster = await RedisCluster.start({ replicas: 0, config: HEALTHY });
    for (const each of cluster.servers)
      await cluster
        .at(each)
        .call('ACL', 'SETUSER', 'app', 'on', '>secret-word', ...LEAST_CLUSTER_RIGHTS, '+info');
    const [first] = cluster.nodes;
    const url = `redis://app:secret-word@127.0.0.1:${first?.port}`;
    const flags = ['--cluster', '--url', url];

    const healthy = await diagnose(flags);
    const misled = await diagnose(['--url', `redis://127.0.0.1:${first?.port}`]);
    for (const each of cluster.servers) await cluster.at(each).call('ACL', 'SETUSER', 'app', '-spublish');
    const mute = await diagnose(flags);
    await cluster.servers[1]?.kill();
    const broken = await diagnose(flags);

    expect(healthy).toMatchObject({ exitCode: 0, bad: [] });
    const heard = healthy.findings.filter(({ check, status }) => check === 'messages' && status === 'ok');
    expect(new Set(heard.map(({ server }) => server))).toEqual(
      new Set(cluster.nodes.map(({ port }) => `127.0.0.1:${port}`)),
    );
    expect(misled.exitCode).toBe(2);
    expect(misled.said).toContain('look with --cluster');
    expect(mute.bad.filter((each) => each === 'warning messages')).toHaveLength(3);
    expect(mute.said).toContain('grant +spublish');
    expect(broken.exitCode).toBe(2);
    expect(broken.bad).toContain('error reach');
  });

  it('looks at the master that sentinels name', async () => {
    await using group = await SentinelGroup.start({ config: { 'min-replicas-to-write': 1, ...HEALTHY } });
    const urls = group.sentinels.flatMap(({ url }) => ['--url', url]);

    const found = await diagnose(['--sentinel', 'main', ...urls], { REDIS_PASSWORD: 'among-servers' });
    const unknown = await diagnose(['--sentinel', 'other', ...urls], { REDIS_PASSWORD: 'among-servers' });

    expect(found).toMatchObject({ exitCode: 0, bad: [] });
    const role = found.findings.find(({ check }) => check === 'role');
    expect(role?.message).toContain('with 2 replicas');
    expect(role?.server).toBe(`127.0.0.1:${(await group.master()).port}`);
    expect(unknown).toMatchObject({ exitCode: 2, bad: ['error reach'] });
  });

  it('looks at each server of a quorum', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start({ config: HEALTHY })));
    await servers[1]?.kill();
    const urls = servers.map(({ url }) => url);

    const { exitCode, bad, findings } = await diagnose([], { REDIS_URL: urls.join(' ') });
    for (const each of servers) await each.stop();

    expect({ exitCode, bad }).toEqual({ exitCode: 2, bad: ['error reach'] });
    expect(findings.find(({ status }) => status === 'error')?.server).toBe(`127.0.0.1:${servers[1]?.port}`);
    expect(findings.some(({ message }) => message.includes('nodeTimeout 10.0 s'))).toBe(true);
  });
});
