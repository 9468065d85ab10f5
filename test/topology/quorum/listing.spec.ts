import { Instance } from '../../redis/instance.js';
import { duringTests } from '../../support/during-tests.js';
import { IndependentMasters } from '../../support/independent-masters.js';
import { listed } from '../../support/listed.js';

const OPTIONS = { ttl: 60_000, outageTimeout: 20_000, nodeTimeout: 2_000 } as const;

describe('A list of the locks of a quorum', () => {
  const masters = duringTests(() => IndependentMasters.start(3));
  const instance = duringTests(async () => new Instance({ connection: masters.urls, ...OPTIONS }));

  beforeEach(() => masters.clear());

  it('has each name that a majority keeps once, and none that a minority keeps', async () => {
    const [first, , last] = masters.nodes;
    const names = Array.from({ length: 40 }, (_, i) => `n:${i + 10}`);
    const locks = await Promise.all(names.map((name) => instance.locks.acquire(name)));
    await first?.server.client().del('lock:{n:10}');
    await last?.server.client().del('lock:{n:11}');
    await first?.server.client().set('lock:{stray}', 'somebody:1', 'PX', 60_000);
    await last?.server.client().set('lock:{stray 2}', 'somebody:1', 'PX', 60_000);

    expect((await listed(instance.locks)).map(({ name }) => name)).toEqual(names);
    await Promise.all(locks.map((lock) => lock.release()));
  });

  it('is whole with a minority of the nodes gone, and fails without a majority', async () => {
    const [first, second] = masters.nodes;
    const lock = await instance.locks.acquire('job');
    await first?.server.kill();
    expect((await listed(instance.locks)).map(({ name }) => name)).toEqual(['job']);
    await second?.server.kill();
    await expect(listed(instance.locks)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await Promise.all([first?.server.start(), second?.server.start()]);
    await lock.release();
  });
});
