import { randomInt } from 'node:crypto';
import type { Terms } from './contender.worker.js';
import type { FaultScene } from './fault-scene.js';
import { breakAtRandom } from './random-faults.js';
import { SeededRandom } from './seeded-random.js';

interface Exclusion {
  readonly takeData: boolean;
  /** What callers ask for; each wants the lock alone where this is left out. */
  readonly terms?: readonly [Terms, ...Terms[]];
}

/** What a run has gone through. */
export interface RunFigures {
  readonly holds: number;
  readonly faults: number;
}

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
  { takeData, terms }: Exclusion,
): Promise<RunFigures> {
  const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
  // Leases so short, and work so long, that many are lost.
  await scene.open({ ttl: 400, commandTimeout: 150 });
  await scene.everyone(({ worker }, i) =>
    worker.call('rush', {
      callers: 4,
      names: NAMES,
      seed: seed + i,
      maxWork: 600,
      impatience: 0.2,
      ...(terms && { terms }),
    }),
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
  if (terms) await expectNothingKept(scene, terms);
  return { holds: report.holds.length, faults: faults.length };
}

/** What was held by whoever was stopped, cut off or forgotten comes back: each name can be had alone, and by as many as may. */
async function expectNothingKept({ operator }: FaultScene, terms: readonly Terms[]): Promise<void> {
  for (const name of NAMES) {
    await (await operator.acquire(name, { wait: 3_000 })).release();
    for (const term of terms) {
      const places =
        term.mode === 'shared' ? Math.floor(Math.min(term.limit ?? 5, 5) / (term.permits ?? 1)) : 1;
      const all = await Promise.all(
        Array.from({ length: places }, () => operator.acquire(name, { ...term, wait: 3_000 })),
      );
      await Promise.all(all.map((lock) => lock.release()));
    }
  }
}
