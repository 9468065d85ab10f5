import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { duringTests } from '../support/during-tests.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { CommandLine, type Result } from './support/command-line.js';

const LONG_WAIT = { timeout: 30_000 };
const KEY = 'lock:{job}';

describe('nest-redis-lock run', () => {
  const server = duringTests(() => RedisServer.start());
  let redis: Redis;
  let directory: string;

  beforeAll(async () => {
    redis = server.client();
    directory = await mkdtemp(join(tmpdir(), 'nest-redis-lock-'));
  });
  afterEach(() => redis.flushall());
  afterAll(() => rm(directory, { recursive: true }));

  /** `run job` with these options, and a shell script as its command. */
  function start(script: string, ...options: string[]): CommandLine {
    return CommandLine.start(['run', 'job', '--url', server.url, ...options, '--', 'sh', '-c', script]);
  }

  function run(script: string, ...options: string[]): Promise<Result> {
    return start(script, ...options).end();
  }

  async function isFree(): Promise<boolean> {
    return (await redis.exists(KEY)) === 0;
  }

  async function releaseByForce(): Promise<void> {
    const { exitCode } = await CommandLine.run(['release', 'job', '--force', '--url', server.url]);
    expect(exitCode).toBe(0);
  }

  it('holds the lock while the command runs, passes it name and token, and returns its exit code', async () => {
    const looked = join(directory, 'looked');
    const command = start(
      `echo "$LOCK_NAME $LOCK_TOKEN go"; until [ -e '${looked}' ]; do sleep 0.02; done; exit 7`,
    );
    await command.says(/job \d+ go/);
    const owner = await redis.get(KEY);
    const [, token] = /job (\d+)/.exec(command.stdout) ?? [];
    await writeFile(looked, '');
    const { exitCode, stderr } = await command.end();

    expect(owner).toMatch(new RegExp(`:${token}$`));
    expect(exitCode).toBe(7);
    expect(stderr).toBe('');
    expect(await isFree()).toBe(true);
  });

  it('leaves everything behind the first -- to the command', async () => {
    const args = [
      'run',
      'job',
      '--url',
      server.url,
      '--',
      'node',
      '-p',
      'process.argv.slice(1).join(" ")',
      '--',
    ];

    const { exitCode, stdout } = await CommandLine.run([...args, '--json', '-x', '--', '--wait', 'a b']);

    expect(stdout).toBe('--json -x -- --wait a b\n');
    expect(exitCode).toBe(0);
  });

  it('requires a command after --, and rejects unknown options', async () => {
    const flags = ['--url', server.url];
    const results = await Promise.all([
      CommandLine.run(['run', 'job', ...flags]),
      CommandLine.run(['run', 'job', ...flags, '--']),
      CommandLine.run(['run', 'job', ...flags, '--', '']),
      CommandLine.run(['run', 'job', 'echo', ...flags]),
      CommandLine.run(['run', 'job', '--wiat', '5', ...flags, '--', 'echo']),
      CommandLine.run(['run', 'job', '--wait', 'soon', ...flags, '--', 'echo']),
      CommandLine.run(['run', 'job', '--ttl', '1ms', ...flags, '--', 'echo']),
      CommandLine.run(['run', 'job', '--kill-after', 'forever', ...flags, '--', 'echo']),
      CommandLine.run(['run', 'job', '--kill-after', '600h', ...flags, '--', 'echo']),
    ]);

    expect(results.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(results.map(() => [64, '']));
    expect(results[0]?.stderr).toContain('Write the command after --');
    expect(results[2]?.stderr).toContain('Write the command after --');
    expect(results[4]?.stderr).toContain('--wait');
  });

  it('exits with 75 if the lock is taken, or 0 with --skip, and does not run the command', async () => {
    await redis.set(KEY, 'somebody', 'PX', 60_000);

    const [busy, skipped] = await Promise.all([
      run('echo worked', '--wait', '0'),
      run('echo worked', '--wait', '1s', '--skip'),
    ]);

    expect(busy).toMatchObject({ exitCode: 75, stdout: '' });
    expect(busy.stderr).toContain('job is held by somebody');
    expect(skipped).toMatchObject({ exitCode: 0, stdout: '' });
  });

  it('waits for the lock, and then runs the command', async () => {
    await redis.set(KEY, 'somebody', 'PX', 60_000);
    const command = start('echo worked', '--wait', '30s');
    await waitFor(() => redis.exists(`${KEY}:q`), { ...LONG_WAIT, that: 'the command to wait' });
    expect(command.stdout).toBe('');

    await redis.del(KEY);

    expect(await command.end()).toMatchObject({ exitCode: 0, stdout: 'worked\n' });
  });

  it('runs at most --limit commands at the same time', async () => {
    const gate = join(directory, 'gate');
    const wait = `echo in; until [ -e ${gate} ]; do sleep 0.05; done`;
    const inside = [start(wait, '--limit', '2'), start(wait, '--limit', '2')];
    for (const command of inside) await command.says('in');

    const third = await run('echo in', '--limit', '2', '--wait', '0');
    await writeFile(gate, '');

    expect(third).toMatchObject({ exitCode: 75, stdout: '' });
    for (const command of inside) expect(await command.end()).toMatchObject({ exitCode: 0 });
  });

  it('takes --permits of --limit, which query and ls show', async () => {
    const command = start('echo in; sleep 600', '--limit', '3', '--permits', '2');
    await command.says('in');
    const [taken, free] = [
      await run('true', '--limit', '3', '--permits', '2', '--wait', '0'),
      await run('true', '--limit', '3', '--wait', '0'),
    ];
    const [query, ls] = [
      await CommandLine.run(['query', 'job', '--url', server.url]),
      await CommandLine.run(['ls', '--url', server.url]),
    ];
    command.kill('SIGTERM');
    await command.end();

    expect([taken.exitCode, free.exitCode]).toEqual([75, 0]);
    expect(query.stdout).toMatch(/shares, 2 permits/);
    expect(ls.stdout).toMatch(/, 2 permits/);
  });

  it('keeps the name taken for --min-hold after a command that exits at once', async () => {
    const { exitCode } = await run('true', '--min-hold', '60s');

    expect(exitCode).toBe(0);
    expect(await redis.pttl(KEY)).toBeGreaterThan(1_000);
  });

  it('exits with 127 or 126 for a command that cannot be started, and with 128 and more if a signal ended it', async () => {
    const file = join(directory, 'no-program');
    await writeFile(file, 'no program');
    await chmod(file, 0o600);
    const flags = ['run', 'job', '--url', server.url, '--'];

    expect(await CommandLine.run([...flags, join(directory, 'nothing')])).toMatchObject({ exitCode: 127 });
    expect(await isFree()).toBe(true);
    expect(await CommandLine.run([...flags, file])).toMatchObject({ exitCode: 126 });
    expect(await isFree()).toBe(true);
    // Node throws at this path instead of emitting an error.
    const below = await CommandLine.run([...flags, join(file, 'program')]);
    expect(below).toMatchObject({
      exitCode: 126,
      stderr: `nest-redis-lock: The command ${join(file, 'program')} cannot be started: spawn ENOTDIR\n`,
    });
    expect(await isFree()).toBe(true);
    expect(await run('kill -KILL $$')).toMatchObject({ exitCode: 137 });
    expect(await isFree()).toBe(true);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'passes %s on, once, and waits for the command',
    async (signal) => {
      const name = signal.slice(3);
      const command = start(
        `trap 'echo got' ${name}; trap 'exit 5' USR2; echo ready; while :; do sleep 0.05; done`,
      );
      await command.says('ready');
      command.kill(signal);
      await command.says('got');
      expect(await isFree()).toBe(false);
      command.kill('SIGUSR2');

      expect(await command.end()).toMatchObject({ exitCode: 5, stdout: 'ready\ngot\n' });
      expect(await isFree()).toBe(true);
    },
  );

  it('keeps the lock of a command behind nohup when the terminal hangs up', async () => {
    const command = start(`exec nohup sh -c 'trap "exit 5" USR2; echo ready; while :; do sleep 0.05; done'`);
    await command.says('ready');
    command.kill('SIGHUP');
    command.kill('SIGUSR2');

    expect(await command.end()).toMatchObject({ exitCode: 5, stdout: 'ready\n' });
    expect(await isFree()).toBe(true);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops waiting at %s, and leaves the queue', async (signal, expected) => {
    await redis.set(KEY, 'somebody', 'PX', 60_000);
    const command = start('echo worked', '--wait', 'forever');
    await waitFor(() => redis.exists(`${KEY}:q`), { ...LONG_WAIT, that: 'the command to wait' });

    command.kill(signal);

    expect(await command.end()).toMatchObject({ exitCode: expected, stdout: '' });
    expect(await redis.exists(`${KEY}:q`)).toBe(0);
  });

  it('ends the command by SIGTERM when the lock is lost, and exits with 76', async () => {
    const command = start(`trap 'echo ended; exit 0' TERM; echo ready; while :; do sleep 0.05; done`);
    await command.says('ready');

    await releaseByForce();

    const { exitCode, stdout, stderr } = await command.end();
    expect(stdout).toBe('ready\nended\n');
    expect(stderr).toContain('The lock job was lost');
    expect(exitCode).toBe(76);
  });

  it('ends a command that ignores SIGTERM by SIGKILL, with its children', async () => {
    const script = `trap '' TERM; sh -c "trap '' TERM; sleep 600" & echo "fork $!"; sleep 600`;
    const command = start(script, '--kill-after', '300ms');
    await command.says(/fork \d+/);
    const fork = Number(/fork (\d+)/.exec(command.stdout)?.[1]);
    expect(isAlive(fork)).toBe(true);

    await releaseByForce();

    expect((await command.end()).exitCode).toBe(76);
    await waitFor(() => !isAlive(fork), { ...LONG_WAIT, that: 'the fork to end' });
  });

  it('also ends forks of the command that outlive it after a lost lock', async () => {
    const script = `sh -c "trap '' TERM; sleep 600" & echo "fork $!"; wait`;
    const command = start(script, '--kill-after', '60s');
    await command.says(/fork \d+/);
    const fork = Number(/fork (\d+)/.exec(command.stdout)?.[1]);

    await releaseByForce();

    expect((await command.end()).exitCode).toBe(76);
    await waitFor(() => !isAlive(fork), { ...LONG_WAIT, that: 'the fork to end' });
  });

  it('exits with the command, although its children continue in the background', async () => {
    const gate = join(directory, 'background');
    const fork = `(until [ -e ${gate} ]; do sleep 0.05; done) >/dev/null 2>&1 &`;

    expect(await run(`${fork} echo done`)).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    expect(await isFree()).toBe(true);
    await writeFile(gate, '');
  });

  it('ends the command before its lease expires when Redis disappears', async () => {
    await using proxy = await TcpProxy.start(server);
    const args = ['run', 'job', '--url', proxy.url, '--ttl', '2s', '--', 'sh', '-c'];
    const command = CommandLine.start([
      ...args,
      `trap 'echo ended; exit 0' TERM; echo ready; while :; do sleep 0.05; done`,
    ]);
    await command.says('ready');

    proxy.drop('both');

    await command.says('ended');
    // The lease begins with the grant or its last renewal, so it is still there, or just over.
    const { exitCode, stderr } = await command.end();
    expect(exitCode).toBe(76);
    expect(stderr).toContain('The lease expired');
    proxy.pass();
  });

  it('keeps the lock through an outage shorter than the lease', async () => {
    await using proxy = await TcpProxy.start(server);
    const gate = join(directory, 'outage');
    const script = `echo ready; until [ -e ${gate} ]; do sleep 0.05; done; exit 3`;
    const command = CommandLine.start([
      'run',
      'job',
      '--url',
      proxy.url,
      '--ttl',
      '20s',
      '--',
      'sh',
      '-c',
      script,
    ]);
    await command.says('ready');
    proxy.reset();
    await waitFor(() => proxy.connections >= 2, { ...LONG_WAIT, that: 'it to connect again' });
    await writeFile(gate, '');

    expect((await command.end()).exitCode).toBe(3);
    expect(await isFree()).toBe(true);
  });

  it('exits with the code of the command if Redis has disappeared by then', async () => {
    await using gone = await RedisServer.start();
    const gate = join(directory, 'gone');
    const script = `echo ready; until [ -e ${gate} ]; do sleep 0.05; done; exit 3`;
    const command = CommandLine.start(['run', 'job', '--url', gone.url, '--', 'sh', '-c', script]);
    await command.says('ready');
    await gone.kill();
    await command.says('ECONNREFUSED');
    await writeFile(gate, '');

    expect(await command.end()).toMatchObject({ exitCode: 3, stdout: 'ready\n' });
  });

  it('exits with 69 if Redis is unreachable, and does not run the command', async () => {
    await using gone = await RedisServer.start();
    await gone.kill();
    const file = join(directory, 'never');

    const { exitCode, stderr } = await CommandLine.run([
      'run',
      'job',
      '--url',
      gone.url,
      '--',
      'touch',
      file,
    ]);

    expect(exitCode).toBe(69);
    expect(stderr.split('\n').at(-2)).toBe(
      `nest-redis-lock: Redis did not answer the request about "job" (connect ECONNREFUSED 127.0.0.1:${gone.port}).`,
    );
    expect(existsSync(file)).toBe(false);
  });

  it('continues when its output is closed', async () => {
    const gate = join(directory, 'unread');
    const command = start(`echo ready; until [ -e ${gate} ]; do sleep 0.05; done; exit 4`);
    await command.says('ready');
    command.child.stderr?.destroy();
    command.child.stdout?.destroy();
    await writeFile(gate, '');

    expect((await command.end()).exitCode).toBe(4);
    expect(await isFree()).toBe(true);
  });

  it('works on a Redis Cluster', async () => {
    await using cluster = await RedisCluster.start({ replicas: 0 });
    const [{ host, port } = { host: '', port: 0 }] = cluster.nodes;
    const args = ['run', 'job', '--cluster', '--url', `redis://${host}:${port}`, '--', 'sh', '-c', 'exit 9'];

    expect((await CommandLine.run(args)).exitCode).toBe(9);
    expect(await cluster.client().exists(KEY)).toBe(0);
  });
});

/** Whether a process runs; one that nobody has buried does not. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z\s]/.test(stdout.trim());
}
