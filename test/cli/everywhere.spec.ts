import { LEAST_RIGHTS, LIST_RIGHT, READY_CHECK_RIGHT } from '../scripts/least-rights.js';
import { Certificate, HAS_OPENSSL } from '../support/certificate.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { SentinelGroup } from '../support/sentinel-group.js';
import { TlsFront } from '../support/tls-front.js';
import { CommandLine, json } from './support/command-line.js';

/** How commands find a Redis. */
interface Place {
  readonly flags: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Every command beside the doctor, at one lock: taken by `run`, seen, and taken away from it. */
async function expectAllCommandsToWork({ flags, env = {} }: Place): Promise<void> {
  const start = (...args: readonly string[]): CommandLine => CommandLine.start(args, env);
  const held = start(
    'run',
    'job',
    '--wait',
    '30s',
    ...flags,
    '--',
    'sh',
    '-c',
    'echo "got $LOCK_TOKEN"; sleep 600',
  );
  await held.says(/got \d+/);
  const [, token] = /got (\d+)/.exec(held.stdout) ?? [];

  const [listed, queried, busy] = await Promise.all([
    start('ls', 'j', '--json', ...flags).end(),
    start('query', 'job', '--json', ...flags).end(),
    start('run', 'job', '--wait', '0', ...flags, '--', 'echo', 'both').end(),
  ]);
  const released = await start('release', 'job', '--force', ...flags).end();
  const ended = await held.end();

  expect(json(listed)).toMatchObject({ names: [{ name: 'job', holders: 1, waiting: 0 }], isPart: false });
  expect(json(queried)).toMatchObject({ held: [{ fencingToken: Number(token) }] });
  expect(busy).toMatchObject({ exitCode: 75, stdout: '' });
  expect(released).toMatchObject({ exitCode: 0, stderr: '' });
  expect(ended.exitCode).toBe(76);
  expect((await start('query', 'job', ...flags).end()).exitCode).toBe(1);
}

const [describeTls, withoutTls] = HAS_OPENSSL
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no openssl)'];

describe('nest-redis-lock', () => {
  it('works on a Redis Cluster', async () => {
    await using cluster = await RedisCluster.start({ replicas: 0 });
    const urls = cluster.nodes.map(({ host, port }) => `redis://${host}:${port}`);

    await expectAllCommandsToWork({ flags: ['--cluster', '--url', urls[0] ?? ''] });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await cluster.client().set(`lock:{${name}}`, 'somebody', 'PX', 60_000);
    const listed = await CommandLine.run(['ls', '--json', '--cluster', '--url', urls[0] ?? '']);
    expect(json(listed)).toMatchObject({ names: names.map((name) => ({ name })) });
    await expectAllCommandsToWork({ flags: ['--cluster'], env: { REDIS_URL: urls.join(' ') } });
  });

  it('works on the master that sentinels name, also after a failover', async () => {
    await using group = await SentinelGroup.start();
    const flags = ['--sentinel', 'main', ...group.sentinels.flatMap(({ url }) => ['--url', url])];
    const place = { flags, env: { REDIS_PASSWORD: 'among-servers' } };

    await expectAllCommandsToWork(place);
    await group.failOver();
    const after = await CommandLine.run(['run', 'job', ...flags, '--', 'echo', 'worked'], place.env);
    expect(after).toMatchObject({ exitCode: 0, stdout: 'worked\n' });
  });

  it('works on the majority of a quorum', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
    try {
      await expectAllCommandsToWork({ flags: servers.flatMap(({ url }) => ['--url', url]) });
    } finally {
      for (const server of servers) await server.stop();
    }
  });
});

describeTls(`nest-redis-lock over TLS${withoutTls}`, () => {
  it('works for a user with few rights', async () => {
    await using certificate = await Certificate.create();
    const rights = [...LEAST_RIGHTS, LIST_RIGHT, READY_CHECK_RIGHT].join(' ');
    await using guarded = await RedisServer.start({
      acl: ['user default off', `user app on >secret-word ${rights}`],
    });
    await using front = await TlsFront.start(guarded, certificate);

    await expectAllCommandsToWork({
      flags: ['--url', `rediss://app:secret-word@localhost:${front.port}`],
      env: { NODE_EXTRA_CA_CERTS: certificate.file },
    });
  });
});
