import { setTimeout as sleep } from 'node:timers/promises';
import { isQueued } from '../contract/observe.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { steadily } from '../support/steadily.js';
import { unstalled } from '../support/unstalled.js';
import { Instance, type InstanceOptions } from '../redis/instance.js';

/** A connection whose path dies without a FIN, in one direction or in both: nobody learns of it. */
describe('A connection that dies silently', () => {
  const server = duringTests(() => RedisServer.start());
  let proxy: TcpProxy;
  const opened: Instance[] = [];

  const open = async (options: InstanceOptions = {}): Promise<Instance> => {
    const instance = new Instance({ connection: { host: proxy.host, port: proxy.port }, ...options });
    opened.push(instance);
    await instance.locks.using('warm-up', { outageTimeout: 10_000 }, () => undefined);
    return instance;
  };

  beforeEach(async () => {
    proxy = await TcpProxy.start(server);
  });
  /** Time until hand-offs are immediate again. */
  const RECOVERY = 3_000;

  /** Takes a measure that has to succeed within the default outageTimeout. */
  const promptly = async (measure: (round: number) => Promise<void>): Promise<void> => {
    await steadily(200, measure, () => server.ping());
  };

  /** The time of some hand-offs from an instance with healthy connections to another one. */
  const handOffs = async (from: Instance, to: Instance, rounds = 3): Promise<number[]> => {
    const times: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const lock = await from.locks.acquire('handed over');
      const next = to.locks.acquire('handed over');
      await isQueued(from.locks, 'handed over', 1);
      const handOver = async (): Promise<void> => {
        await lock.release();
        await (await next).release();
      };
      times.push(await unstalled(handOver, () => server.ping()));
    }
    return times;
  };

  /** Waits in a queue meanwhile, as an instance with traffic does. */
  const waitThrough = async (from: Instance, to: Instance, time: number): Promise<void> => {
    const lock = await from.locks.acquire('waited for');
    const wait = to.locks.acquire('waited for');
    await sleep(time);
    await lock.release();
    await (await wait).release();
  };

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ locks }) => locks.close()));
    await proxy.close();
  });

  describe.each(['both', 'toServer', 'toClient'] as const)(
    'for commands, in this direction: %s',
    (direction) => {
      it.each<[string, InstanceOptions]>([
        ['common', {}],
        ['per-name', { layout: 'per-name' }],
      ])('delays the first call, which succeeds with default options (layout: %s)', async (_, options) => {
        await promptly(async () => {
          const { locks } = await open(options);
          proxy.silence('commands', direction);

          expect(await locks.using('n', ({ held }) => held)).toBe(true);
        });
      });

      it('delays the first attempt, and the first call for several names', async () => {
        await promptly(async (round) => {
          const { locks } = await open();
          proxy.silence('commands', direction);
          const [attempt, several] = await Promise.all([
            locks.tryAcquire(`n:${round}`),
            locks.acquire([`m:${round}`, `o:${round}`]),
          ]);

          expect([attempt?.held, several.held]).toEqual([true, true]);
          await attempt?.release();
          await several.release();
        });
      });
    },
  );

  const layouts: [string, InstanceOptions][] = [
    ['common', {}],
    ['per-name', { layout: 'per-name' }],
  ];
  const silences: [string, () => void][] = [
    ['and Redis does not know', () => proxy.silence('listening')],
    ['towards the client', () => proxy.silence('listening', 'toClient')],
    ['and Redis alone knows', () => proxy.keepOnlyClients('listening')],
  ];

  describe.each(layouts)('for messages (layout: %s)', (_, options) => {
    it.each(silences)('%s, is replaced within 3 s while a caller waits', async (_case, silence) => {
      const from = await open({ ...options, connection: { host: server.host, port: server.port } });
      const to = await open(options);
      // Both listen.
      await handOffs(from, to, 1);
      await handOffs(to, from, 1);
      silence();
      await waitThrough(from, to, RECOVERY);

      expect(Math.max(...(await handOffs(from, to)))).toBeLessThan(200);
      expect(to.logged).toEqual([expect.stringContaining('connection for messages')]);
    });

    it('is replaced if it stays at a demoted server behind one address', async () => {
      await using next = await RedisServer.start();
      try {
        const to = await open(options);
        const from = await open({ ...options, connection: { host: next.host, port: next.port } });
        await from.locks.using('n', () => undefined);
        proxy.leadTo(next);
        proxy.reset('commands');
        await to.locks.using('n', () => undefined);
        await waitThrough(from, to, RECOVERY);

        expect(Math.max(...(await handOffs(from, to)))).toBeLessThan(200);
        expect(to.logged.filter((line) => line.includes('ten times'))).toEqual([]);
      } finally {
        await Promise.all(opened.splice(0).map(({ locks }) => locks.close()));
      }
    });
  });
});
