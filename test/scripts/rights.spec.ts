import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { isLockError } from '../../lib/errors/lock.error.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { waitFor } from '../support/wait-for.js';
import { BEARABLE, IN_VAIN } from '../contract/observe.js';
import { Instance } from '../redis/instance.js';
import { LEAST_RIGHTS, READY_CHECK_RIGHT } from './least-rights.js';

const ADMIN = 'user default on nopass ~* &* +@all';
/** What works is waited for, however busy the machine is; what can never work is not. */
const PATIENT = 20_000;
const HASTY = 400;

describe('A Redis user with the least rights', () => {
  const server = duringTests(() => RedisServer.start({ acl: [ADMIN] }));
  let admin: Redis;

  beforeAll(() => void (admin = server.client()));

  /** What goes wrong for a user with these rights; nothing if it is enough. */
  const problems = async (
    user: string,
    rights: readonly string[],
    timeout: number,
  ): Promise<readonly string[]> => {
    await admin.call('ACL', 'SETUSER', user, 'reset', 'on', '>secret', READY_CHECK_RIGHT, ...rights);
    const connection = `redis://${user}:secret@${server.host}:${server.port}`;
    const options = { connection, ttl: 5_000, wait: timeout, outageTimeout: timeout };
    const [first, second] = [new Instance(options), new Instance(options)];
    const failure = await everything(first, second, user, timeout).then(
      () => [],
      (error: unknown) => [String(error)],
    );
    await Promise.all([first.locks.close(), second.locks.close()]);
    return [...failure, ...first.logged, ...second.logged];
  };

  it('can do everything with locks', async () => {
    await admin.script('FLUSH');

    expect(await problems('app', LEAST_RIGHTS, PATIENT)).toEqual([]);
  });

  it('can do everything with a database, a client prefix and a module prefix', async () => {
    const rights = LEAST_RIGHTS.map((right) =>
      right.replace('~lock:', '~shop:mutex:').replace('&lock:', '&mutex:'),
    );
    await admin.call(
      'ACL',
      'SETUSER',
      'shop',
      'reset',
      'on',
      '>secret',
      '+select',
      READY_CHECK_RIGHT,
      ...rights,
    );
    const connection = {
      host: server.host,
      port: server.port,
      username: 'shop',
      password: 'secret',
      db: 3,
      keyPrefix: 'shop:',
    };
    const options = { connection, keyPrefix: 'mutex:', ttl: 5_000, wait: PATIENT, outageTimeout: PATIENT };
    await using first = new Instance(options);
    await using second = new Instance(options);
    await everything(first, second, 'shop', PATIENT);

    expect([...first.logged, ...second.logged]).toEqual([]);
  });

  it('works without INFO: ioredis then skips its ready check with a warning', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});
    await admin.call('ACL', 'SETUSER', 'uninformed', 'reset', 'on', '>secret', ...LEAST_RIGHTS);
    const connection = `redis://uninformed:secret@${server.host}:${server.port}`;
    const options = { connection, wait: PATIENT, outageTimeout: PATIENT };
    await using first = new Instance(options);
    await using second = new Instance(options);
    await everything(first, second, 'uninformed', PATIENT);

    expect([...first.logged, ...second.logged]).toEqual([]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('ready check'));
    warn.mockRestore();
  });

  it('cannot work if any of them is missing', async () => {
    const missing = LEAST_RIGHTS.filter((right) => right !== '+eval');
    const outcomes = await Promise.all(
      missing.map(async (right, i) => {
        const found = await problems(
          `without${i}`,
          LEAST_RIGHTS.filter((each) => each !== right),
          HASTY,
        );
        return found.length > 0 ? undefined : right;
      }),
    );
    // By itself, since the others load the scripts that it could then use.
    await admin.script('FLUSH');
    const withoutEval = await problems('withoutEval', missing, HASTY);

    expect(outcomes.filter((right) => right !== undefined)).toEqual([]);
    expect(withoutEval).not.toEqual([]);
  });

  it('needs all keys that begin with its prefix, as the log and its errors say, and has locks alone without', async () => {
    const keys = ['~lock:{*}', '~lock:{*}:q', '~lock:fence'];
    const rights = [...keys, ...LEAST_RIGHTS.filter((right) => !right.startsWith('~'))];
    await admin.call('ACL', 'SETUSER', 'alone', 'reset', 'on', '>secret', READY_CHECK_RIGHT, ...rights);
    const connection = `redis://alone:secret@${server.host}:${server.port}`;
    await using alone = new Instance({ connection, wait: PATIENT, outageTimeout: PATIENT });
    await alone.locks.using('writer', () => undefined);
    const refused = alone.locks.acquire('reader', { mode: 'shared' });

    await expect(refused).rejects.toThrow(/NOPERM .* all keys that begin with the keyPrefix, as ~lock:\*/);
    expect(await alone.locks.using('writer', ({ held }) => held)).toBe(true);
    await waitFor(() => alone.logged.length > 0, { that: 'it to be said' });
    expect(alone.logged).toEqual([
      expect.stringMatching(
        /^Redis cannot be used for locks: NOPERM .* all keys that begin with the keyPrefix/,
      ),
    ]);
    await using other = new Instance({ connection: server.url, wait: PATIENT, outageTimeout: PATIENT });
    await using _ = await other.locks.acquire('writer', { mode: 'shared' });
    expect(await alone.locks.tryAcquire('writer')).toBeUndefined();
  });

  it('that may not subscribe still gets locks, asks at intervals, and is warned once', async () => {
    const rights = LEAST_RIGHTS.filter((right) => right !== '&lock:inbox:*');
    await admin.call('ACL', 'SETUSER', 'deaf', 'reset', 'on', '>secret', READY_CHECK_RIGHT, ...rights);
    const connection = `redis://deaf:secret@${server.host}:${server.port}`;
    await using deaf = new Instance({ connection, ttl: 900, wait: 10_000 });
    await deaf.locks.using('deaf', () => undefined);
    await waitFor(() => deaf.logged.length > 0);
    await using other = new Instance({ connection: server.url });
    const lock = await other.locks.acquire('deaf');
    const next = deaf.locks.acquire('deaf');
    // Time enough for further attempts to subscribe.
    await new Promise((resolve) => void setTimeout(resolve, 1_300));
    await lock.release();

    await (await next).release();
    expect(deaf.logged).toEqual([expect.stringContaining('SUBSCRIBE')]);
    await admin.call('ACL', 'SETUSER', 'deaf', '&lock:inbox:*');
    await waitFor(() => deaf.store.wakesBy('n') !== undefined, {
      that: 'the subscription once it is allowed',
    });
  });

  it.each<[what: string, refused: readonly string[]]>([
    ['has no right to the channels', ['resetchannels']],
    ['may not PUBLISH', ['-publish']],
  ])('that %s still hands its locks to waiters, also at the end of a turn', async (_what, refused) => {
    const user = `mute${refused.join('')}`;
    await admin.call('ACL', 'SETUSER', user, 'reset', 'on', '>secret', '~*', '+@all', '&*', ...refused);
    const connection = `redis://${user}:secret@${server.host}:${server.port}`;
    await using mute = new Instance({ connection, ttl: 900, budget: { max: 1 } });
    await using other = await new Instance({ connection: server.url, ttl: 900 }).warmUp();
    const order: string[] = [];
    const turn = (of: Instance, name: string): Promise<void> =>
      of.locks.using(user, { wait: 20_000 }, () => void order.push(name));
    const lock = await mute.locks.acquire(user);
    const turns = [turn(other, 'other')];
    await waitFor(async () => (await other.locks.query(user)).pending.length === 1);
    turns.push(turn(mute, 'mute'), turn(mute, 'mute'));
    await lock.release();
    await Promise.all(turns);
    const last = await mute.locks.acquire(user);
    const waiting = other.locks.acquire(user, { wait: 20_000 });
    await waitFor(async () => (await other.locks.query(user)).pending.length === 1);
    await last.release();
    await (await waiting).release();

    expect(order).toEqual(['other', 'mute', 'mute']);
    const expected = /SUBSCRIBE|does not publish/;
    expect(mute.logged.filter((message) => !expected.test(message))).toEqual([]);
  });
});

/** Uses every script in every way, with two instances. */
async function everything(
  { locks }: Instance,
  other: Instance,
  prefix: string,
  timeout: number,
): Promise<void> {
  await locks.using(`${prefix}:free`, (lock) => lock.extend());
  await other.locks.using(`${prefix}:other`, () => undefined);
  await locks.using([`${prefix}:one`, `${prefix}:two`], () => undefined);
  await waitFor(() => other.store.wakesBy('n') !== undefined, { timeout: timeout, that: 'the inbox' });

  await locks.once(`${prefix}:once`, { keep: 1_000 }, () => 'done');
  await other.locks.once(`${prefix}:once`, { keep: 1_000 }, () => 'again');
  await other.locks.forget(`${prefix}:once`);

  const name = `${prefix}:handed`;
  const lock = await locks.acquire(name);
  const release = (next: Lock): Promise<void> => next.release();
  // Together, so that no rejection is left alone when something fails on the way.
  await Promise.all([
    other.locks.acquire(name).then(release),
    waitFor(async () => (await locks.query(name)).pending.length === 1, { timeout: timeout }).then(() =>
      Promise.all([locks.acquire(name).then(release), lock.release()]),
    ),
  ]);

  const leaving = await locks.acquire(name);
  await (await other.locks.attach(await leaving.detach())).release();

  const shared = `${prefix}:shared`;
  const [reader, goer] = await Promise.all([1, 2].map(() => locks.acquire(shared, { mode: 'shared' })));
  await Promise.all([
    other.locks.acquire(shared).then(release),
    waitFor(async () => (await locks.query(shared)).pending.length === 1, { timeout: timeout }).then(
      async () => {
        await reader?.extend();
        const attached = await other.locks.attach((await goer?.detach()) ?? '');
        await Promise.all([reader?.release(), attached.release()]);
      },
    ),
  ]);

  await using taken = await locks.acquire(name);
  const waitInVain = (): Promise<unknown> =>
    other.locks.acquire(name, { wait: IN_VAIN }).catch((error: unknown) => {
      if (!isLockError(error) || error.code !== 'LOCK_TIMEOUT') throw error;
    });
  await steadily(BEARABLE, waitInVain, () => locks.query(name));
  const aborted = once(taken.signal, 'abort', { signal: AbortSignal.timeout(timeout) });
  await other.locks.forceRelease(name);
  await aborted;
}
