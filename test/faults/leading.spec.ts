import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import { campaign, expectOneLeader } from './support/campaign.js';
import { FaultScene } from './support/fault-scene.js';

describe('four processes that campaign for one lead', () => {
  const scene = duringTests(() => FaultScene.start(4));

  it.each([
    ['while Redis keeps its data', false],
    ['with growing tokens though Redis loses its data', true],
  ])('have one leader at a time under random faults, and all get terms again, %s', async (_, takeData) => {
    await expectOneLeader(scene, 1_500, takeData);
  });

  it('continue without a leader that is killed, and without one that is stopped', async () => {
    await campaign(scene, 1);
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
