import { RedisCluster } from '../support/redis-cluster.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from '../engine/instance.js';

describe('On a Redis Cluster', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  }, 120_000);
  afterAll(() => cluster.stop());

  it('a lock goes from instance to instance', async () => {
    await using first = new Instance({ connection: { nodes: cluster.nodes } });
    await using second = new Instance({ connection: { nodes: cluster.nodes } });
    const lock = await first.locks.acquire('n');
    const next = second.locks.acquire('n');
    await waitFor(async () => (await second.locks.query('n')).pending.length === 1);
    await lock.release();
    const after = await next;
    expect(after.fencingToken).toBeGreaterThan(lock.fencingToken);
    await after.release();
    console.log(first.logged, second.logged);
  });
});
