import { expectExclusion } from './support/exclusion.js';
import { FaultScene } from './support/fault-scene.js';

describe('four processes with random work and random faults', () => {
  let scene: FaultScene;

  beforeAll(async () => {
    scene = await FaultScene.start(4);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it('never hold one name at the same time while Redis keeps its data', async () => {
    await expectExclusion(scene, 1_500, { takeData: false });
  });

  it('write with growing tokens even when Redis loses its data', async () => {
    await expectExclusion(scene, 1_500, { takeData: true });
  });
});
