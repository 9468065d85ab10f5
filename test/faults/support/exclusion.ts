import { randomInt } from 'node:crypto';
import type { FaultScene } from './fault-scene.js';
import { breakAtRandom } from './random-faults.js';
import { SeededRandom } from './seeded-random.js';

const NAMES = ['red', 'green', 'blue'] as const;

/**
 * Lets callers of all processes contend while faults come at random, and checks what was seen.
 *
 * FAULT_SEED in the environment repeats the choices of a failed run; the moments at which they meet the
 * processes differ.
 */
export async function expectExclusion(
  scene: FaultScene,
  duration: number,
  { takeData }: { readonly takeData: boolean },
): Promise<void> {
  const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
  // Leases so short, and work so long, that many are lost.
  await scene.open({ ttl: 400, commandTimeout: 150 });
  await scene.everyone(({ worker }, i) =>
    worker.call('rush', { callers: 4, names: NAMES, seed: seed + i, maxWork: 600, impatience: 0.2 }),
  );

  const faults = await breakAtRandom(scene, new SeededRandom(seed), duration, { names: NAMES, takeData });
  await scene.untilEveryoneHeld(3);
  const report = await scene.close();

  // The seed and the faults stand in the failure's message, beside what went wrong.
  expect({ seed, faults, problems: report.problems, refused: report.refused }).toEqual({
    seed,
    faults,
    problems: [],
    refused: [],
  });
  const holders = new Set(report.holds.map(({ id }) => id.split('/')[0]));
  expect(holders.size).toBe(scene.contenders.length);
}
