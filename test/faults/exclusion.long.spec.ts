import { expectExclusion } from './support/exclusion.js';
import { FaultScene } from './support/fault-scene.js';

describe('four processes with random work and random faults, for minutes', () => {
  let scene: FaultScene;

  beforeAll(async () => {
    scene = await FaultScene.start(4);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it.each([1, 2, 3, 4])('never hold one name at the same time while Redis keeps its data (%d)', async () => {
    await expectExclusion(scene, 16_000, { takeData: false });
  });

  it.each([1, 2, 3, 4])('write with growing tokens even when Redis loses its data (%d)', async () => {
    await expectExclusion(scene, 16_000, { takeData: true });
  });
});
