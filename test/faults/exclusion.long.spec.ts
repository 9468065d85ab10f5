import { duringTests } from '../support/during-tests.js';
import { expectExclusion, type RunFigures } from './support/exclusion.js';
import { FaultScene } from './support/fault-scene.js';

describe('four processes with random work and random faults, for minutes', () => {
  const scene = duringTests(() => FaultScene.start(4));
  const runs: RunFigures[] = [];

  afterAll(() => {
    const [holds, faults] = [sum(runs.map((run) => run.holds)), sum(runs.map((run) => run.faults))];
    process.stdout.write(`${runs.length} runs, ${holds} holds, ${faults} faults: no rule broken\n`);
  });

  it.each([1, 2, 3, 4])('never hold one name at the same time while Redis keeps its data (%d)', async () => {
    runs.push(await expectExclusion(scene, 16_000, { takeData: false }));
  });

  it.each([1, 2, 3, 4])('write with growing tokens even when Redis loses its data (%d)', async () => {
    runs.push(await expectExclusion(scene, 16_000, { takeData: true }));
  });
});

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
