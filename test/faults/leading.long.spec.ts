import { expectOneLeader } from './support/campaign.js';
import { FaultScene } from './support/fault-scene.js';

const ROUND = 16_000;

describe('four processes that campaign for one lead, for a minute', () => {
  let scene: FaultScene;

  beforeAll(async () => {
    scene = await FaultScene.start(4);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it.each([1, 2])('have one leader at a time while Redis keeps its data (%d)', async () => {
    await expectOneLeader(scene, ROUND, false);
  });

  it.each([1, 2])('have growing tokens though Redis loses its data (%d)', async () => {
    await expectOneLeader(scene, ROUND, true);
  });
});
