import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { Instance, type InstanceOptions } from '../redis/instance.js';

/** A connection whose path dies without a FIN, in one direction or in both: nobody learns of it. */
describe('A connection that dies silently', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  const opened: Instance[] = [];

  const open = async (options: InstanceOptions = {}): Promise<Instance> => {
    const instance = new Instance({ connection: { host: proxy.host, port: proxy.port }, ...options });
    await instance.locks.using('warm-up', { outageTimeout: 10_000 }, () => undefined);
    opened.push(instance);
    return instance;
  };

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    proxy = await TcpProxy.start(server);
  });
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
        const { locks } = await open(options);
        proxy.silence('commands', direction);

        expect(await locks.using('n', ({ held }) => held)).toBe(true);
      });

      it('delays the first attempt, and the first call for several names', async () => {
        const { locks } = await open();
        proxy.silence('commands', direction);
        const [attempt, several] = await Promise.all([locks.tryAcquire('n'), locks.acquire(['m', 'o'])]);

        expect([attempt?.held, several.held]).toEqual([true, true]);
        await attempt?.release();
        await several.release();
      });
    },
  );
});
