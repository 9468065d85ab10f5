import { expectExclusion } from './support/exclusion.js';
import { FaultScene } from './support/fault-scene.js';
import { MIXED_LIMITS, PERMITS, READERS_AND_WRITERS } from './support/terms.js';

const ROUND = 16_000;

describe('four processes with readers, writers and permits, and random faults, for minutes', () => {
  let scene: FaultScene;

  beforeAll(async () => {
    scene = await FaultScene.start(4);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it.each([1, 2])('have no writer hold beside anybody (%d)', async () => {
    await expectExclusion(scene, ROUND, { takeData: false, terms: READERS_AND_WRITERS });
  });

  it('have no more holders than their limits allow', async () => {
    await expectExclusion(scene, ROUND, { takeData: false, terms: PERMITS });
    await expectExclusion(scene, ROUND, { takeData: false, terms: MIXED_LIMITS });
  });

  it('get every permit back although Redis loses its data', async () => {
    await expectExclusion(scene, ROUND, { takeData: true, terms: MIXED_LIMITS });
  });
});
