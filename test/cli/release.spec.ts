import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Redis } from 'ioredis';
import type { LockSnapshot } from '../../lib/index.js';
import { Instance } from '../redis/instance.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { CommandLine, json, shellCommand } from './support/command-line.js';

const LONG_WAIT = { timeout: 30_000 };
const KEY = 'lock:{job}';
/** For a shell. */
const COMMAND = shellCommand('release', 'job');

describe('nest-redis-lock release', () => {
  const server = duringTests(() => RedisServer.start());
  let redis: Redis;

  beforeAll(() => void (redis = server.client()));
  afterEach(() => redis.flushall());

  function release(...options: string[]): CommandLine {
    return CommandLine.start(['release', 'job', '--url', server.url, ...options]);
  }

  it('requires --force without a terminal, and releases nothing', async () => {
    await redis.set(KEY, 'somebody', 'PX', 60_000);

    const [plain, asJson] = await Promise.all([release().end(), release('--json').end()]);

    for (const { exitCode, stderr } of [plain, asJson]) {
      expect(exitCode).toBe(2);
      expect(stderr).toContain('--force');
    }
    expect(await redis.get(KEY)).toBe('somebody');
  });

  it('releases the lock, notifies its holder, and shows the holder', async () => {
    const holder = new Instance({ connection: server.url });
    const lock = await holder.locks.acquire('job');

    const { exitCode, stdout } = await release('--force').end();

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`${holder.name}:${lock.fencingToken}[^]*Released job`));
    await waitFor(() => lock.signal.aborted, { ...LONG_WAIT, that: 'the holder to learn of it' });
    await holder.locks.close();
  });

  it('exits with 1 for a free name, and prints JSON', async () => {
    const free = await release('--force').end();
    await redis.set(KEY, 'somebody', 'PX', 60_000);
    const released = await release('--force', '--json').end();

    expect(free).toMatchObject({ exitCode: 1, stdout: 'Nobody holds job.\n' });
    expect(released.exitCode).toBe(0);
    const answer = json(released) as LockSnapshot & { readonly released: boolean };
    expect(answer).toMatchObject({ name: 'job', released: true, ended: [{ owner: 'somebody' }] });
    expect(await redis.exists(KEY)).toBe(0);
  });

  it('releases nothing when its output is closed', async () => {
    await redis.set(KEY, 'somebody', 'PX', 60_000);
    const command = release('--force');
    command.child.stdout?.destroy();

    expect((await command.end()).exitCode).toBe(141);
    expect(await redis.get(KEY)).toBe('somebody');
  });

  const hasTerminals = spawnSync('script', ['--version']).status === 0;
  const [describeTerminal, reason] = hasTerminals
    ? [describe, '']
    : [describe.skip, ' (skipped: there is no script of util-linux)'];

  describeTerminal(`in a terminal${reason}`, () => {
    /** Answers the question of `release job` in a terminal. */
    async function answer(
      typed: string,
      meanwhile?: () => Promise<unknown>,
    ): Promise<{ code: unknown; said: string }> {
      const terminal = spawn('script', ['--quiet', '--return', '--command', COMMAND, '/dev/null'], {
        env: { ...process.env, REDIS_URL: server.url, NO_COLOR: '1' },
      });
      const ended = once(terminal, 'close');
      let said = '';
      terminal.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
      try {
        await waitFor(() => said.includes('Type yes'), { ...LONG_WAIT, that: 'the question' });
        await meanwhile?.();
        terminal.stdin.write(typed);
        const [code] = await ended;
        return { code, said };
      } finally {
        terminal.kill('SIGKILL');
      }
    }

    beforeEach(() => redis.set(KEY, 'somebody', 'PX', 60_000));

    it('shows the holder, explains the consequence, and releases after yes', async () => {
      const { code, said } = await answer('yes\r');

      expect(said).toMatch(/somebody[^]*older fencing token[^]*Released job/);
      expect(code).toBe(0);
      expect(await redis.exists(KEY)).toBe(0);
    });

    it.each([
      ['no', 'no\r'],
      ['nothing', '\r'],
      ['Ctrl-C', '\u0003'],
      ['Ctrl-D', '\u0004'],
    ])('releases nothing after %s', async (_, typed) => {
      const { code, said } = await answer(typed);

      expect(said).toContain('Nothing was released');
      expect(code).toBe(2);
      expect(await redis.get(KEY)).toBe('somebody');
    });

    it('ends only the holds that were shown', async () => {
      const { code, said } = await answer('yes\r', () => redis.set(KEY, 'another', 'PX', 60_000));

      expect(said).toContain('It is now held by another.');
      expect(code).toBe(2);
      expect(await redis.get(KEY)).toBe('another');
    });
  });
});
