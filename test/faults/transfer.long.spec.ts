import { randomInt } from 'node:crypto';
import { FaultScene } from './support/fault-scene.js';
import { breakAtRandom } from './support/random-faults.js';
import { runRelay } from './support/relay.js';
import { SeededRandom } from './support/seeded-random.js';
import { duringTests } from '../support/during-tests.js';

const ROUND = 16_000;

describe('a hold that goes from one process to another, for a while', () => {
  const scene = duringTests(() => FaultScene.start(3));

  it('has one holder at a time under random faults, and is never attached twice', async () => {
    const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
    await scene.open({ ttl: 400, commandTimeout: 150, outageTimeout: 2_000, wait: 4_000 });
    const names = ['red', 'green'] as const;
    await scene.everyone(({ worker }, i) =>
      worker.call('rush', { callers: 1, names, seed: seed + i, maxWork: 60, impatience: 0 }),
    );
    const stop = new AbortController();
    const relays = [0, 1, 2, 3].map((runner) =>
      runRelay(scene, runner, {
        name: names[runner % 2] ?? 'red',
        random: new SeededRandom(seed * 10 + runner),
        stop: stop.signal,
      }),
    );
    const faults = await breakAtRandom(scene, new SeededRandom(seed), ROUND, { names, takeData: false });
    stop.abort();
    const reports = await Promise.all(relays);
    const { problems } = await scene.close();

    expect({ seed, faults, problems: [...problems, ...reports.flatMap((each) => each.problems)] }).toEqual({
      seed,
      faults,
      problems: [],
    });
    expect(reports.reduce((sum, { hops }) => sum + hops, 0)).toBeGreaterThan(9);
  });
});
