import { randomInt } from 'node:crypto';
import { waitFor } from '../../support/wait-for.js';
import type { FaultScene } from './fault-scene.js';
import { breakAtRandom } from './random-faults.js';
import { SeededRandom } from './seeded-random.js';

const NAME = 'leader';
const PAUSE = 10;

/** Lets all processes campaign for one lead, until each has had a term. */
export async function campaign(scene: FaultScene, seed: number): Promise<void> {
  await scene.open({ ttl: 400, commandTimeout: 150 });
  await scene.everyone(({ worker }, i) => worker.call('lead', NAME, seed + i, PAUSE));
  await scene.untilEveryoneHeld(1);
}

/**
 * Lets all processes campaign while faults come at random, and checks what was seen. FAULT_SEED in the environment
 * repeats the choices of a failed run.
 */
export async function expectOneLeader(scene: FaultScene, duration: number, takeData: boolean): Promise<void> {
  const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
  await campaign(scene, seed);
  const names = [NAME] as const;
  const faults = await breakAtRandom(scene, new SeededRandom(seed), duration, { names, takeData });
  await scene.untilEveryoneHeld(2);
  const { problems } = await scene.close();

  expect({ seed, faults, problems }).toEqual({ seed, faults, problems: [] });
  await waitFor(async () => (await scene.admin.keys('*')).join() === 'lock:fence', {
    that: 'everything to be released',
  });
}
