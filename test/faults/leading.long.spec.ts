import { expectOneLeader } from './support/campaign.js';
import { FaultScene } from './support/fault-scene.js';
import { duringTests } from '../support/during-tests.js';

const ROUND = 16_000;

describe('four processes that campaign for one lead, for a minute', () => {
  const scene = duringTests(() => FaultScene.start(4));

  it.each([1, 2])('have one leader at a time while Redis keeps its data (%d)', async () => {
    await expectOneLeader(scene, ROUND, false);
  });

  it.each([1, 2])('have growing tokens though Redis loses its data (%d)', async () => {
    await expectOneLeader(scene, ROUND, true);
  });
});
