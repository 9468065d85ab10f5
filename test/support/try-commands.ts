import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { end, isRunning, spawnWithLifeline } from './lifeline.js';
import { waitFor } from './wait-for.js';

/** Milliseconds that a command may take on a loaded machine. */
const TIMEOUT = 30_000;
const NOBODY_HOLDS = 1;
const NOTHING_KEPT = 1;
const LOST = 76;

/** Which command line to try. */
export interface CommandTrial {
  /** The program of an installed package. */
  readonly program: string;
  readonly redisUrl: string;
  /** The Node that runs it. */
  readonly node?: string;
}

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts each command of the command line once, while a lock is held.
 *
 * @throws AssertionError if a command prints or returns something else than for a held lock, or is not tried here
 */
export async function tryCommands({
  program,
  redisUrl,
  node = process.execPath,
}: CommandTrial): Promise<void> {
  // Trials may share a server.
  const lock = `held-${randomBytes(3).toString('hex')}`;
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', REDIS_URL: redisUrl };
  const start = (...args: string[]): ReturnType<typeof spawnWithLifeline> =>
    spawnWithLifeline(node, [program, ...args], { env });
  const run = (...args: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      execFile(node, [program, ...args], { env, timeout: TIMEOUT }, (error, stdout, stderr) => {
        resolve({ exitCode: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      });
    });
  const printed = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(...args);
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' }, `${args.join(' ')} failed`);
    return stdout;
  };

  const help = await printed('--help');
  // A blank line ends the list of commands.
  const [, list = ''] = /^Commands:\n((?:.+\n)+)/m.exec(help) ?? [];
  const commands = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);
  const onLocks = ['doctor', 'ls', 'query', 'forget', 'release', 'run'];
  assert.deepEqual(commands, [...onLocks, 'dashboard', 'alerts', 'help']);
  assert.match(await printed('dashboard'), /"panels"/);
  assert.match(await printed('alerts'), /LockHoldHangs/);

  const holder = start('run', lock, '--', node, '-e', 'setInterval(() => {}, 1_000)');
  const lost = once(holder, 'exit');
  try {
    await waitFor(
      async () => {
        assert(isRunning(holder), 'run ended before the lock was taken from it');
        return (await run('query', lock)).exitCode !== NOBODY_HOLDS;
      },
      { timeout: TIMEOUT, that: 'run to hold the lock' },
    );

    assert.match(await printed('ls'), new RegExp(`│ ${lock} .*│ run `));
    assert.match(await printed('query', lock), /│ holds │ .*│ run /);
    assert.deepEqual(await run('forget', lock), {
      exitCode: NOTHING_KEPT,
      stdout: `No result of ${lock} is kept.\n`,
      stderr: '',
    });
    const { exitCode, stdout, stderr } = await run('doctor');
    assert.equal(stderr, '');
    assert.match(stdout, /fencing tokens/i);
    assert(exitCode === 0 || exitCode === 1, `doctor ended with ${exitCode}:\n${stdout}`);
    assert.match(await printed('release', lock, '--force'), new RegExp(`│ holds │ [^]*Released ${lock}\\.`));
    // An event does not keep the process alive; the child's handle does.
    holder.ref();
    const [code] = await lost;
    assert.equal(code, LOST, 'run does not end with the lock');
  } finally {
    await end(holder, 'SIGKILL');
  }
}
