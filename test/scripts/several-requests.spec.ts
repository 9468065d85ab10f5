import { RedisNode } from '../../lib/store/quorum/redis-node.js';
import { quorumAcquireScript } from '../../lib/store/scripts/quorum-acquire.script.js';
import { SystemClock } from '../../lib/primitives/clock.js';
import { QUIET } from '../support/quiet.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';

describe('a node of a quorum', () => {
  let server: RedisServer;
  let node: RedisNode;

  beforeAll(async () => {
    server = await RedisServer.start();
    node = new RedisNode({
      connection: server.url,
      keyPrefix: 'lock:',
      instance: 'a',
      nodeTimeout: 5_000,
      commandTimeout: 5_000,
      clock: new SystemClock(),
      log: QUIET,
    });
    node.connect();
  });
  afterAll(async () => {
    node.close();
    await server.stop();
  });

  it('sends the requests of one tick to a script in one call, and gives each its own answer', async () => {
    const acquire = (name: string, token: number): Promise<unknown> => {
      const lock = `lock:{${name}}`;
      const keys = [lock, `${lock}:q`, `${lock}:fence`];
      return node.run('take', quorumAcquireScript, keys, ['a', token, token, 20_000, '', 600_000]);
    };
    expect(await acquire('warm-up', 100)).toEqual([1, expect.any(Number), 100]);
    const log = await RequestLog.open(server);
    const answers = await Promise.all([acquire('n', 200), acquire('m', 300), acquire('n', 150)]);

    expect(answers).toEqual([
      [1, expect.any(Number), 200],
      [1, expect.any(Number), 300],
      [2, expect.any(Number), 200],
    ]);
    expect((await log.requests()).filter(({ command }) => command.startsWith('eval'))).toHaveLength(1);
    log.close();
  });
});
