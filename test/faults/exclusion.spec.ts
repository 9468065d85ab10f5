import { expectExclusion } from './support/exclusion.js';
import { FaultScene } from './support/fault-scene.js';
import { duringTests } from '../support/during-tests.js';

describe('four processes with random work and random faults', () => {
  const scene = duringTests(() => FaultScene.start(4));

  it('never hold one name at the same time while Redis keeps its data', async () => {
    await expectExclusion(scene, 1_500, { takeData: false });
  });

  it('write with growing tokens even when Redis loses its data', async () => {
    await expectExclusion(scene, 1_500, { takeData: true });
  });
});
