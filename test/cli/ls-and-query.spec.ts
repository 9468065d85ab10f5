import type { LockListing } from '../../lib/index.js';
import { Instance } from '../redis/instance.js';
import { duringTests } from '../support/during-tests.js';
import { Certificate, HAS_OPENSSL } from '../support/certificate.js';
import { RedisServer } from '../support/redis-server.js';
import { TlsFront } from '../support/tls-front.js';
import { waitFor } from '../support/wait-for.js';
import { LEAST_RIGHTS, LIST_RIGHT } from '../scripts/least-rights.js';
import { CommandLine, json } from './support/command-line.js';

interface Listing {
  readonly names: readonly LockListing[];
  readonly isPart: boolean;
}

const [describeTls, withoutTls] = HAS_OPENSSL
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no openssl)'];

describe('nest-redis-lock', () => {
  const server = duringTests(() => RedisServer.start());
  const holder = duringTests(async () => new Instance({ connection: server.url }));
  afterEach(() => server.client().flushall());

  it('prints its help, and rejects invalid arguments with exit code 64', async () => {
    const [help, nothing, unknown, many] = await Promise.all([
      CommandLine.run(['--help']),
      CommandLine.run(['query']),
      CommandLine.run(['lock']),
      CommandLine.run(['query', 'a', 'b']),
    ]);

    expect(help).toMatchObject({ exitCode: 0, stderr: '' });
    for (const command of ['ls', 'query', 'forget', 'release', 'run', 'dashboard', 'alerts'])
      expect(help.stdout).toContain(command);
    for (const text of ['REDIS_USERNAME, REDIS_PASSWORD', '500ms, 30s', 'Examples:', 'Documentation: '])
      expect(help.stdout).toContain(text);
    for (const { stderr } of [nothing, unknown, many]) expect(stderr).toMatch(/^nest-redis-lock: /);
    expect(nothing).toMatchObject({ exitCode: 64, stdout: '' });
    expect(unknown.exitCode).toBe(64);
    expect(many.exitCode).toBe(64);
  });

  it('query shows that a result is kept, and not the result; forget deletes it', async () => {
    await holder.locks.once('report', { keep: '1h' }, () => 'secret');
    const run = (...args: string[]): ReturnType<typeof CommandLine.run> =>
      CommandLine.run(args, { REDIS_URL: server.url });
    const [table, asJson] = await Promise.all([run('query', 'report'), run('query', 'report', '--json')]);
    const forgotten = await run('forget', 'report');
    const again = await run('forget', 'report', '--json');

    expect(table.stdout).toMatch(/A result is kept from \d{4}-.* until \d{4}-/);
    expect(json(asJson)).toMatchObject({
      done: { at: expect.any(String), until: expect.any(String) },
    });
    expect(table.stdout + asJson.stdout + forgotten.stdout).not.toContain('secret');
    expect(forgotten).toMatchObject({ exitCode: 0, stdout: 'Forgot the result of report.\n' });
    expect(again.exitCode).toBe(1);
    expect(json(again)).toEqual({ name: 'report', forgotten: false });
  });

  it('ls lists held names in order with holder, label and waiters, as a table and as JSON', async () => {
    await using one = await holder.locks.acquire('order:2', { label: 'Orders.pay' });
    await using other = await holder.locks.acquire('order:1');
    await using elsewhere = await holder.locks.acquire('report');
    expect([one.held, other.held, elsewhere.held]).toEqual([true, true, true]);

    const [table, list] = await Promise.all([
      CommandLine.run(['ls', 'order:'], { REDIS_URL: server.url }),
      CommandLine.run(['ls', 'order:', '--json', '--url', server.url]),
    ]);

    expect(table).toMatchObject({ exitCode: 0, stderr: '' });
    expect(table.stdout).toMatch(/order:1 .*\n.*order:2 .*Orders\.pay/);
    expect(table.stdout).not.toContain('report');
    const { names, isPart } = json(list) as Listing;
    expect(isPart).toBe(false);
    expect(names).toEqual([
      {
        name: 'order:1',
        mode: 'exclusive',
        owner: `${holder.name}:${other.fencingToken}`,
        since: expect.any(String),
        holders: 1,
        remaining: expect.any(Number),
        waiting: 0,
      },
      expect.objectContaining({ name: 'order:2', label: 'Orders.pay' }),
    ]);
  });

  it('ls --sort lists the oldest holds, or the most waiters, first, before --limit', async () => {
    await using oldest = await holder.locks.acquire('b');
    const grantedBy = Date.now();
    await waitFor(() => Date.now() > grantedBy, { that: 'another millisecond: ages are compared by these' });
    await using younger = await holder.locks.acquire('a');
    await using other = await new Instance({ connection: server.url }).warmUp();
    const waits = other.locks.acquire('a');
    await waitFor(() => server.client().exists('lock:{a}:q'), { that: 'an instance to wait' });
    const first = async (order: string): Promise<string | undefined> =>
      (
        json(
          await CommandLine.run(['ls', '--sort', order, '--limit', '1', '--json', '--url', server.url]),
        ) as Listing
      ).names[0]?.name;

    expect(await Promise.all(['age', 'waiters'].map(first))).toEqual(['b', 'a']);
    expect((await CommandLine.run(['ls', '--sort', 'size', '--url', server.url])).exitCode).toBe(64);
    expect(oldest.held).toBe(true);
    await younger.release();
    await (await waits).release();
  });

  it('ls --limit bounds the shown names, and the output says that more exist', async () => {
    await using both = await holder.locks.acquire(['a', 'b']);
    expect(both.held).toBe(true);

    const [table, list, all] = await Promise.all([
      CommandLine.run(['ls', '--limit', '1', '--url', server.url]),
      CommandLine.run(['ls', '--limit', '1', '--json', '--url', server.url]),
      CommandLine.run(['ls', '--limit', '2', '--json', '--url', server.url]),
    ]);

    expect(table.stdout).toContain('More names are held than these 1');
    expect(json(list)).toMatchObject({ isPart: true, names: [expect.anything()] });
    expect(json(all)).toMatchObject({ isPart: false });
  });

  it('ls escapes foreign text so that it cannot control the terminal', async () => {
    await server.client().set('lock:{evil}', 'a\u001b[2Jb\u202ec', 'PX', 60_000);

    const { stdout } = await CommandLine.run(['ls', '--url', server.url]);

    expect(stdout).toContain(String.raw`a\u001b[2Jb\u202ec`);
    expect(stdout).not.toContain('\u001b');
  });

  it('query shows holder and waiters with exit code 0, and exits with 1 for a free name', async () => {
    await using lock = await holder.locks.acquire('job', { label: 'nightly' });
    await using waiter = await new Instance({ connection: server.url }).warmUp();
    const turn = waiter.locks.acquire('job');
    await waitFor(() => server.client().exists('lock:{job}:q'), { that: 'the second one to wait' });

    const [table, held, free] = await Promise.all([
      CommandLine.run(['query', 'job', '--url', server.url]),
      CommandLine.run(['query', 'job', '--json', '--url', server.url]),
      CommandLine.run(['query', 'nobody', '--url', server.url]),
    ]);
    await lock.release();
    await (await turn).release();

    expect(table.exitCode).toBe(0);
    expect(table.stdout).toMatch(/holds .*nightly[^]*waits/);
    expect(held.exitCode).toBe(0);
    expect(json(held)).toMatchObject({
      name: 'job',
      held: [
        { owner: `${holder.name}:${lock.fencingToken}`, label: 'nightly', fencingToken: lock.fencingToken },
      ],
      pending: [{ owner: waiter.name }],
    });
    expect(free).toMatchObject({ exitCode: 1, stderr: '' });
    expect(free.stdout).toBe('nobody is free, and has no waiters.\n');
  });

  it('uses the key prefix of the application', async () => {
    await server.client().set('app:{job}', 'somebody', 'PX', 60_000);

    const [own, other] = await Promise.all([
      CommandLine.run(['query', 'job', '--prefix', 'app:', '--url', server.url]),
      CommandLine.run(['query', 'job', '--url', server.url]),
    ]);

    expect(own.exitCode).toBe(0);
    expect(other.exitCode).toBe(1);
  });

  it('accepts valkey:// URLs, with the password from the environment', async () => {
    await server.client().set('lock:{job}', 'somebody', 'PX', 60_000);
    await server.client().call('ACL', 'SETUSER', 'valkey', 'on', '>secret', '~*', '&*', '+@all');
    const url = server.url.replace('redis:', 'valkey:');
    const env = { REDIS_URL: url, REDIS_USERNAME: 'valkey', REDIS_PASSWORD: 'secret' };

    const [named, authenticated] = await Promise.all([
      CommandLine.run(['query', 'job', '--url', url]),
      CommandLine.run(['query', 'job'], env),
    ]);

    expect([named.exitCode, authenticated.exitCode]).toEqual([0, 0]);
  });

  it('exits with 69 and the reason if Redis is unreachable, and with 64 for invalid arguments', async () => {
    await using gone = await RedisServer.start();
    const { url } = gone;
    await gone.kill();

    const [unreachable, name, address] = await Promise.all([
      CommandLine.run(['query', 'job', '--url', url]),
      CommandLine.run(['query', '', '--url', server.url]),
      CommandLine.run(['ls', '--url', 'http://:secret@127.0.0.1']),
    ]);

    expect(unreachable).toMatchObject({ exitCode: 69, stdout: '' });
    expect(unreachable.stderr).toBe(
      `nest-redis-lock: Redis did not answer the request about "job" (connect ECONNREFUSED 127.0.0.1:${gone.port}).\n`,
    );
    expect(name.exitCode).toBe(64);
    expect(address.exitCode).toBe(64);
    expect(address.stderr).not.toContain('secret');
    expect(address.stderr).toMatch(
      /^nest-redis-lock: The URL \S+ is not a redis:\/\/ or rediss:\/\/ URL\. Write --url or REDIS_URL as/,
    );
    expect(address.stderr).not.toContain('ioredis');
  });

  it('ends as other programs do when its output is closed', async () => {
    const names = Array.from({ length: 3_000 }, (_, i) => `${'n'.repeat(60)}${i}`);
    await Promise.all(names.map((name) => server.client().set(`lock:{${name}}`, 'x', 'PX', 60_000)));
    const command = CommandLine.start(['ls', '--limit', '3000', '--url', server.url]);
    command.child.stdout?.destroy();

    const { exitCode, stderr } = await command.end();

    expect(exitCode).toBe(141);
    expect(stderr).toBe('');
  });
});

describeTls(`nest-redis-lock over TLS${withoutTls}`, () => {
  it('works for a user with few rights, with a password from the environment', async () => {
    await using certificate = await Certificate.create();
    await using guarded = await RedisServer.start({
      acl: [
        'user default off',
        `user app on >pass@word ${[...LEAST_RIGHTS, LIST_RIGHT].join(' ')}`,
        'user admin on nopass ~* +@all',
      ],
    });
    await using front = await TlsFront.start(guarded, certificate);
    await guarded.client({ username: 'admin', password: 'x' }).set('lock:{job}', 'somebody', 'PX', 60_000);
    const flags = ['--url', `rediss://127.0.0.1:${front.port}`];
    const env = {
      NODE_EXTRA_CA_CERTS: certificate.file,
      REDIS_USERNAME: 'app',
      REDIS_PASSWORD: 'pass@word',
    };

    const [listed, queried, wrong, untrusted] = await Promise.all([
      CommandLine.run(['ls', '--json', ...flags], env),
      CommandLine.run(['query', 'job', ...flags], env),
      CommandLine.run(['query', 'job', ...flags], { ...env, REDIS_PASSWORD: 'wrong one' }),
      CommandLine.run(['query', 'job', ...flags], { ...env, NODE_EXTRA_CA_CERTS: '' }),
    ]);

    expect(listed.exitCode).toBe(0);
    expect((json(listed) as Listing).names).toMatchObject([{ name: 'job', owner: 'somebody' }]);
    expect(queried.exitCode).toBe(0);
    expect(wrong.exitCode).toBe(69);
    expect(wrong.stderr).toContain('WRONGPASS');
    expect(wrong.stderr).not.toContain('wrong one');
    expect(untrusted.exitCode).toBe(69);
    expect(untrusted.stderr).toMatch(/self-signed certificate/);
  });
});
