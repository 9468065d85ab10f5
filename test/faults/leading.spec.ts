import { randomInt } from 'node:crypto';
import { waitFor } from '../support/wait-for.js';
import { FaultScene } from './support/fault-scene.js';
import { breakAtRandom } from './support/random-faults.js';
import { SeededRandom } from './support/seeded-random.js';

const NAME = 'leader';
const PAUSE = 10;

describe('four processes that campaign for one lead', () => {
  let scene: FaultScene;

  beforeAll(async () => {
    scene = await FaultScene.start(4);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const campaign = async (seed: number): Promise<void> => {
    await scene.open({ ttl: 400, commandTimeout: 150 });
    await scene.everyone(({ worker }, i) => worker.call('lead', NAME, seed + i, PAUSE));
    await scene.untilEveryoneHeld(1);
  };

  it.each([
    ['while Redis keeps its data', false],
    ['with growing tokens though Redis loses its data', true],
  ])('have one leader at a time under random faults, and all get terms again, %s', async (_, takeData) => {
    const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
    await campaign(seed);
    const names = [NAME] as const;
    const faults = await breakAtRandom(scene, new SeededRandom(seed), 5_000, { names, takeData });
    await scene.untilEveryoneHeld(2);
    const { problems } = await scene.close();

    expect({ seed, faults, problems }).toEqual({ seed, faults, problems: [] });
    await waitFor(async () => (await scene.admin.keys('*')).join() === 'lock:fence', {
      that: 'everything to be released',
    });
  });

  it('go on without a leader that is killed, and without one that is stopped', async () => {
    await campaign(1);
    const [dying, stopped] = [scene.contender(0), scene.contender(1)];
    stopped.worker.freeze();
    await dying.worker.kill();
    const living = [2, 3].map((i) => scene.contender(i).worker);
    await Promise.all(
      living.map(async (worker) => {
        const before = await worker.call('progress');
        await waitFor(async () => (await worker.call('progress')) >= before + 3, { timeout: 15_000 });
      }),
    );
    stopped.worker.thaw();

    const reports = await Promise.all([stopped.worker, ...living].map((worker) => worker.call('stop')));
    expect(reports.flatMap(({ problems }) => problems)).toEqual([]);
  });
});
