import { now } from '../../faults/support/shared-clock.js';
import { duringTests } from '../../support/during-tests.js';
import { type RedisCluster, slotOf } from '../../support/redis-cluster.js';
import { waitFor } from '../../support/wait-for.js';
import { ClusterScene } from '../support/cluster-scene.js';

/** What a recovery may take longer than that of the Cluster itself. */
const RECOVERY = 2_000;

describe('A hundred callers in four processes that want one lock of a Redis Cluster', () => {
  const scene = duringTests(() => ClusterScene.start(), 120_000);
  let cluster: RedisCluster;

  beforeAll(() => void ({ cluster } = scene));

  /** When a write to the lock's slot succeeded again, by a client that knows nothing of locks. */
  const whenWritable = async (name: string): Promise<number> => {
    await waitFor(() => cluster.isWritable(`{${name}}:probe`), {
      timeout: 60_000,
      interval: 10,
      that: 'the failover',
    });
    return now();
  };

  it('all continue while its slot moves to other nodes', async () => {
    const name = 'moving';
    await scene.rush(name);
    const slot = slotOf(`{${name}}`);
    const home = await cluster.masterOf(`{${name}}`);
    for (const master of [...(await cluster.otherMasters(`{${name}}`)), home]) {
      await cluster.moveSlot(slot, master);
      await scene.untilEveryoneHeld(25);
    }
    const report = await scene.close();

    expect(report).toMatchObject({ problems: [], refused: [], lost: [] });
  }, 180_000);

  it('all continue while a node joins and takes over the slot', async () => {
    const name = 'joining';
    await scene.rush(name);
    const added = await cluster.addMaster();
    await cluster.moveSlot(slotOf(`{${name}}`), added);
    await scene.untilEveryoneHeld(25);
    const master = await cluster.masterOf(`{${name}}`);
    const report = await scene.close();

    expect(master).toBe(added);
    expect(report).toMatchObject({ problems: [], refused: [], lost: [] });
  }, 180_000);

  it('all continue while its master and a replica change places, again and again', async () => {
    const name = 'changing places';
    await scene.rush(name);
    for (let times = 0; times < 4; times++) {
      await cluster.failOver(`{${name}}`);
      await scene.untilEveryoneHeld(25);
    }
    const report = await scene.close();

    expect(report).toMatchObject({ problems: [], refused: [], lost: [] });
  }, 180_000);

  it.each([
    ['is killed', 'kill'],
    ['freezes', 'freeze'],
  ] as const)(
    'continue by themselves when its master %s, soon after the Cluster does',
    async (_, fault) => {
      const name = `lost by ${fault}`;
      await scene.rush(name);
      const master = await cluster.masterOf(`{${name}}`);
      const failedAt = now();
      const writableAt = await scene.losing(async () => {
        await master[fault]();
        const recoveredAt = await whenWritable(name);
        await scene.untilEveryoneHeld(25);
        return recoveredAt;
      });
      await master.kill();
      await master.start();
      await cluster.agree();
      const report = await scene.close();
      // Whoever held it at the moment of the fault could go on in memory for a while.
      const next = report.holds.map(({ begin }) => begin).filter((begin) => begin > failedAt + 1_000);

      // The holders who were at work together are named in `lost`: only a failover that lost a write excuses them.
      expect({ ...report, lost: report.lost.length }).toMatchObject({ problems: [], refused: [] });
      expect(Math.min(...next)).toBeLessThan(writableAt + RECOVERY);
    },
    180_000,
  );

  it('have two holders after a failover lost the grant, until the first one reaches Redis again', async () => {
    const name = 'lost write';
    const master = await cluster.masterOf(`{${name}}`);
    const [first, second] = scene.workers;
    if (!first || !second) throw new Error('Two processes are needed');
    await scene.open({ ttl: 60_000 });
    await cluster.cutReplicas(master);
    const token = await first.call('hold', name);
    const nextToken = await scene.losing(async () => {
      // So that it cannot learn of the loss before the other one is granted the lock.
      first.freeze();
      await master.kill();
      cluster.thaw();
      await whenWritable(name);
      const granted = await second.call('hold', name);
      first.thaw();
      await waitFor(async () => (await first.call('look', name)).lostBecause, { timeout: 10_000 });
      return granted;
    });
    await first.call('finish', name);
    await second.call('finish', name);
    await master.start();
    await cluster.agree();
    const report = await scene.close();

    expect(nextToken).toBeGreaterThan(token);
    expect(report).toMatchObject({ problems: [], refused: [] });
    expect(report.lost).toHaveLength(1);
  }, 180_000);
});
