import { setTimeout as sleep } from 'node:timers/promises';
import { LockConfigError } from '../../lib/errors/lock.error.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { StrangeServer, type Strangeness } from '../support/strange-server.js';
import { waitFor } from '../support/wait-for.js';
import { isQueued } from '../contract/observe.js';
import { Instance, type InstanceOptions } from './instance.js';

const AMPLE = 20_000;
const NOT_ALLOWED = 'ERR This Redis command is not allowed from script';
const POLLED = expect.stringContaining('Waiters now ask ten times a second');

describe('The trial of a server', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  const strangeServer = async (strangeness: Strangeness): Promise<StrangeServer> =>
    closing(await StrangeServer.start(server, strangeness));
  const instance = ({ url }: { url: string }, options: InstanceOptions = {}): Instance =>
    closing(new Instance({ connection: url, wait: AMPLE, ...options }));
  const polls = async (each: Instance): Promise<void> => {
    await each.locks.using(`try:${each.name}`, () => undefined);
    await waitFor(() => each.store.wakesBy('n') === 'poll', { that: 'the verdict' });
  };

  it('sends one script for each connection, in full, and no other command, and reports nothing', async () => {
    const log = await RequestLog.open(server);
    const { logged, store } = await instance(server).warmUp();
    const requests = await log.requests();
    log.close();
    const trials = requests.filter(({ args }) => args[0]?.includes('REDIS_VERSION'));

    expect(trials.map(({ command }) => command)).toEqual(['eval', 'eval']);
    expect(requests.map(({ command }) => command)).not.toContain('role');
    expect([store.wakesBy('n'), ...logged]).toEqual(['message']);
  });

  describe('that delivers messages and does not count receivers', () => {
    it('lets the instance poll, and warns once with the reason', async () => {
      const strange = await strangeServer({ countsNobody: true });
      const each = instance(strange);
      await polls(each);
      strange.reset();
      await waitFor(() => each.logged.some((message) => message.includes('again')));
      await polls(each);

      const warnings = each.logged.filter((message) => message.includes('ten times'));
      expect(warnings).toEqual([POLLED]);
      expect(warnings[0]).toContain('did not count the receivers of a script’s message');
    });

    it('never yields two holders, from the first request on', async () => {
      const strange = await strangeServer({ countsNobody: true });
      const all = Array.from({ length: 4 }, () => instance(strange));
      let holders = 0;
      let most = 0;
      let holds = 0;
      const work = async (each: Instance): Promise<void> => {
        for (let i = 0; i < 5; i++) {
          await each.locks.using('crowded', async () => {
            most = Math.max(most, ++holders);
            holds += 1;
            await sleep(10);
            holders -= 1;
          });
        }
      };
      await Promise.all(all.flatMap((each) => [work(each), work(each)]));

      expect({ holds, most }).toEqual({ holds: 40, most: 1 });
    });

    it.each([
      { when: 'before it has ended', prepare: async () => undefined },
      { when: 'after its verdict', prepare: polls },
    ])('skips no waiter $when', async ({ when, prepare }) => {
      const [strange, fresh] = [await strangeServer({}), await strangeServer({ countsNobody: true })];
      const [waiting, holder] = [
        await instance(strange).warmUp(),
        instance(fresh, { commandTimeout: 60_000 }),
      ];
      await prepare(holder);
      const lock = await holder.locks.acquire(when);
      const next = waiting.locks.acquire(when);
      await isQueued(waiting.locks, when, 1);
      await lock.release();
      const { owner } = (await waiting.locks.query(when)).held[0] ?? {};

      expect(owner).toContain(waiting.name);
      await (await next).release();
    });

    it('hands over by messages again when a new connection leads to a better one', async () => {
      const strange = await strangeServer({ countsNobody: true });
      const each = instance(strange);
      await polls(each);
      strange.strangeness = {};
      strange.reset();
      await waitFor(() => each.store.wakesBy('n') === 'message');

      expect(each.logged).toContain('Locks are handed over by messages again.');
    });
  });

  it('lets an instance poll while counted messages do not arrive, and listen once they arrive late', async () => {
    const strange = await strangeServer({});
    const each = instance(strange, { commandTimeout: 400 });
    strange.withhold('tried ');
    await polls(each);
    expect(each.logged).toEqual([
      expect.stringMatching(/has not delivered .* within 400 ms.*ten times a second/),
    ]);

    strange.deliver();
    await waitFor(() => each.store.wakesBy('n') === 'message');

    expect(each.logged).toContain('Locks are handed over by messages again.');
  });

  it('lets an instance poll if a script may not publish', async () => {
    const each = instance(await strangeServer({ refused: { PUBLISH: NOT_ALLOWED } }));
    await polls(each);

    expect(each.logged).toEqual([expect.stringContaining(`does not publish in a script (${NOT_ALLOWED})`)]);
  });

  describe('whose scripts may not read the time', () => {
    it('runs all operations with a clock made of expiring keys', async () => {
      const each = await instance(await strangeServer({ refused: { TIME: NOT_ALLOWED } })).warmUp();
      const other = await instance(server).warmUp();
      const before = Date.now() * 1_000;
      const lock = await each.locks.acquire('timeless');
      const waits = other.locks.acquire('timeless');
      await isQueued(each.locks, 'timeless', 1);
      const [waiting] = (await each.locks.query('timeless')).pending;
      await lock.release();
      const next = await waits;
      const shared = await each.locks.acquire('shared', { mode: 'shared', limit: 2 });
      await shared.extend();

      expect(lock.fencingToken).toBeGreaterThanOrEqual(before - 1_000);
      expect(lock.fencingToken).toBeLessThanOrEqual(Date.now() * 1_000 + 1_000);
      expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
      expect(waiting?.waited).toBeLessThan(AMPLE);
      expect((await each.locks.query('shared')).held).toHaveLength(1);
      expect(each.logged).toEqual([]);
      await Promise.all([next.release(), shared.release()]);
    });

    it('leaves the counter without an expiry', async () => {
      const each = await instance(await strangeServer({ refused: { TIME: NOT_ALLOWED } })).warmUp();
      await each.locks.query('nobody has it');

      expect(await server.client().ttl('lock:fence')).toBe(-1);
      expect(await server.client().exists('lock:{nobody has it}')).toBe(0);
    });

    it('reports that no clock is available', async () => {
      const refused = { TIME: NOT_ALLOWED, PEXPIRETIME: NOT_ALLOWED };
      const each = instance(await strangeServer({ refused }));
      await expect(each.locks.acquire('n')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      await waitFor(() => each.logged.length > 0);
      await each.locks.close();

      expect(each.logged).toEqual([
        `Redis cannot be used for locks: scripts cannot read the time (${NOT_ALLOWED})`,
      ]);
    });
  });

  it('warns once of a policy that evicts locks, with the cure', async () => {
    const policy = { maxmemory: '100mb', 'maxmemory-policy': 'volatile-lru' };
    await using evicting = await RedisServer.start({ config: policy });
    await using each = await new Instance({ connection: evicting.url }).warmUp();
    await waitFor(() => each.logged.length > 0);
    await evicting.client().call('CLIENT', 'KILL', 'TYPE', 'PUBSUB');
    await each.warmUp();

    expect(each.logged.filter((line) => line.includes('evicts'))).toEqual([
      expect.stringMatching(/maxmemory-policy is volatile-lru: set noeviction.*nest-redis-lock doctor/),
    ]);
  });

  it('finds nothing on a server that has renamed INFO', async () => {
    await using renamed = await RedisServer.start({ config: { 'rename-command': 'INFO ""' } });
    const connection = { host: renamed.host, port: renamed.port, enableReadyCheck: false };
    await using each = new Instance({ connection });
    await each.warmUp();

    expect([each.store.wakesBy('n'), ...each.logged]).toEqual(['message']);
  });

  it('rejects calls for a finding or ignores it, according to startupChecks', async () => {
    const policy = { maxmemory: '100mb', 'maxmemory-policy': 'volatile-lru' };
    await using evicting = await RedisServer.start({ config: policy });
    const strict = instance(evicting, { startupChecks: 'error' });
    const silent = await instance(evicting, { startupChecks: 'off' }).warmUp();
    await strict.locks.acquire('first').then(
      (lock) => lock.release(),
      () => undefined,
    );
    await waitFor(() => strict.logged.length > 0);

    await expect(strict.locks.acquire('n')).rejects.toMatchObject({
      code: 'LOCK_CONFIG',
      message: expect.stringContaining('maxmemory-policy is volatile-lru'),
    });
    expect(silent.logged).toEqual([]);
    await Promise.all([strict.locks.close(), silent.locks.close()]);
  });

  describe('that is too old', () => {
    const OLD = { code: 'LOCK_CONFIG', message: expect.stringContaining('has version 6.2.14') };

    it.each<[what: string, old: Strangeness]>([
      ['as scripts know', { version: '6.2.14' }],
      ['as INFO tells', { version: null, info: 'redis_version:6.2.14' }],
    ])('rejects all callers, including waiters, %s', async (what, old) => {
      const strange = await strangeServer({});
      const each = instance(strange);
      const holder = await instance(server).warmUp();
      await using lock = await holder.locks.acquire(`old:${what}`);
      await each.warmUp();
      const waiting = each.locks.acquire(lock.keys[0] ?? '');
      const refusal = waiting.catch((error: unknown) => error);
      strange.strangeness = old;
      strange.reset();
      expect(await refusal).toMatchObject(OLD);

      await expect(each.locks.acquire('n')).rejects.toBeInstanceOf(LockConfigError);
      await expect(each.locks.tryAcquire(['n', 'm'])).rejects.toMatchObject(OLD);
      expect(each.logged.filter((message) => message.includes('6.2.14'))).toHaveLength(1);
    });
  });
});
