import { Redis } from 'ioredis';
import { LEAST_CLUSTER_RIGHTS, LEAST_RIGHTS } from '../scripts/least-rights.js';
import { Certificate, HAS_OPENSSL } from '../support/certificate.js';
import { duringTests } from '../support/during-tests.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { ReplicaSet } from '../support/replica-set.js';
import { SentinelGroup } from '../support/sentinel-group.js';
import { TlsFront } from '../support/tls-front.js';
import { waitFor } from '../support/wait-for.js';
import { HAS_COMPILER, WrongClock } from '../support/wrong-clock.js';
import { type Diagnosis, diagnose, HEALTHY } from './support/diagnosis.js';

describe('nest-redis-lock doctor, as a user with few rights', () => {
  const enough = LEAST_RIGHTS.join(' ');
  const guardedFor = (rights: string): Promise<RedisServer> =>
    RedisServer.start({
      config: HEALTHY,
      acl: ['user default off', 'user root on >root-word ~* &* +@all', `user app on >secret-word ${rights}`],
    });
  const diagnoseAt = ({ port }: RedisServer, ...flags: readonly string[]): Promise<Diagnosis> =>
    diagnose(['--url', `redis://app:secret-word@127.0.0.1:${port}`, ...flags]);
  const diagnoseAs = async (rights: string): Promise<Diagnosis> => {
    await using guarded = await guardedFor(rights);
    // The server is there until it has ended.
    return await diagnoseAt(guarded);
  };

  it('accepts the rights that an application needs, and lists the checks that it skipped', async () => {
    const { exitCode, bad, findings } = await diagnoseAs(enough);

    expect({ exitCode, bad }).toEqual({ exitCode: 0, bad: [] });
    const unseen = findings.filter(({ status }) => status === 'skipped').map(({ check }) => check);
    expect(unseen).toEqual(['role', 'eviction', 'persistence', 'keys']);
  });

  it.each(['pexpire', 'zrange', 'set', 'evalsha'])('names %s if it is missing', async (name) => {
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
  ])('names the consequence if the user may not %s', async (name, rights) => {
    const { exitCode, said } = await diagnoseAs(rights);

    expect(exitCode).toBe(1);
    expect(said).toContain(`may not ${name} on the channels`);
    expect(said).toContain('Waiters now ask ten times a second');
  });

  it('finds that the keys of locks are forbidden, and that no script can run', async () => {
    const [keys, scripts] = await Promise.all([
      diagnoseAs(enough.replace('~lock:*', '~other:*')),
      diagnoseAs(`${enough} -eval`),
    ]);

    for (const { exitCode, said } of [keys, scripts]) {
      expect(exitCode).toBe(2);
      expect(said).toContain('No script can run: NOPERM');
    }
  });

  it.each([
    ['a command is missing', 'lock:', `${enough} -zrange`],
    ['channels are missing', 'lock:', enough.replace('&lock:inbox:*', 'resetchannels')],
    ['no script can run', 'lock:', `${enough} -eval`],
    ['keys have another prefix', 'shop:[1]:', enough],
    ['the database cannot be selected', 'lock:', enough, '/3'],
  ])('prints the ACL SETUSER command that is enough if %s', async (_what, prefix, rights, database = '') => {
    await using guarded = await guardedFor(rights);
    const flags = [
      '--url',
      `redis://app:secret-word@127.0.0.1:${guarded.port}${database}`,
      '--prefix',
      prefix,
    ];
    const { exitCode, said } = await diagnose(flags);
    expect(exitCode).toBeGreaterThan(0);
    const [command = '', ...more] = said.match(/ACL SETUSER app .*$/gm) ?? [];
    const admin = new Redis(`redis://root:root-word@127.0.0.1:${guarded.port}`);
    const [name = '', ...args] = command.split(' ');
    await admin.call(name, ...args);
    admin.disconnect();

    expect(more).toEqual([]);
    expect(await diagnose(flags)).toMatchObject({ exitCode: 0, bad: [] });
  });

  const [describeTls, reason] = HAS_OPENSSL
    ? [describe, '']
    : [describe.skip, ' (skipped: there is no openssl)'];

  describeTls(`over TLS${reason}`, () => {
    it('works, and explains problems with certificates', async () => {
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
  const clocks = duringTests(() => WrongClock.compile());

  const diagnoseAt = async (ahead: number, rate: number): Promise<Diagnosis> => {
    await using server = await RedisServer.start({ config: HEALTHY, env: clocks.variables({ ahead, rate }) });
    return await diagnose(['--url', server.url]);
  };

  it.each([
    ['ahead', 3_600, '60 min ahead of'],
    ['behind', -3_600, '60 min behind'],
  ])('finds that the clock is %s', async (_, ahead, expected) => {
    const { exitCode, bad, said } = await diagnoseAt(ahead, 1);

    expect({ exitCode, bad }).toEqual({ exitCode: 1, bad: ['warning clock'] });
    expect(said).toContain(expected);
  });

  it('finds that the clock runs too fast or too slow', async () => {
    const { exitCode, bad, said } = await diagnoseAt(0, 3);

    expect(exitCode).toBe(2);
    expect(bad).toContain('error clock');
    expect(said).toContain('was set forward');
  });
});

describe('nest-redis-lock doctor, with several servers', () => {
  it('finds a replica, a master without min-replicas-to-write, and replicas that do not confirm', async () => {
    await using set = await ReplicaSet.start(1);
    const { link, server: replica } = set.replica(0);
    const admin = set.master.client();
    await admin.config('SET', 'appendonly', 'yes');
    // While the master writes its first append-only file, a replica confirms late.
    await waitFor(async () => (await admin.info('persistence')).includes('aof_rewrite_in_progress:0'));

    const follower = await diagnose(['--url', replica.url]);
    const master = await diagnose(['--url', set.master.url]);
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

  it('checks each master of a Cluster, with few rights and SPUBLISH', async () => {
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
    expect(misled.said).toContain('use --cluster here');
    expect(mute.bad.filter((each) => each === 'warning messages')).toHaveLength(3);
    expect(mute.said).toContain('grant +spublish');
    const command = `ACL SETUSER app ${[...LEAST_RIGHTS, '+info', ...LEAST_CLUSTER_RIGHTS.slice(LEAST_RIGHTS.length)].join(' ')}`;
    expect(mute.said).toContain(command);
    expect(broken.exitCode).toBe(2);
    expect(broken.bad).toContain('error reach');
  });

  it('checks the master that sentinels name', async () => {
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

  it('checks each server of a quorum', async () => {
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
