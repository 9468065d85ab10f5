import * as fc from 'fast-check';
import { SEED } from '../simulation/seed.js';
import { anyComposition } from './composition.arbitrary.js';
import type { Composition } from './composition.js';
import { play } from './play.js';
import { notCollected, type Remains } from './remains.js';

/** How many times as many compositions to play. */
export const TIMES = Number(process.env['COMPOSITION_TIMES'] ?? 1);
/** Compositions between two collections of garbage. */
const BATCH = 100;

interface Played {
  readonly run: number;
  readonly composition: Composition;
  readonly remains: Remains;
}

/**
 * Plays random compositions. A failure shrinks, and names seed and path; with `SIMULATION_SEED` set to that seed the
 * same compositions run again.
 */
export async function assertCompositions(numRuns: number): Promise<void> {
  const seed = SEED;
  process.stdout.write(`${numRuns} compositions, seed ${seed}\n`);
  let batch: Played[] = [];
  let run = 0;
  const property = fc.asyncProperty(anyComposition, async (composition) => {
    batch.push({ run, composition, remains: await play(composition) });
    run += 1;
    if (batch.length < BATCH) return;
    await assertCollected(batch, seed);
    batch = [];
  });
  await fc.assert(property, { seed, numRuns });
  await assertCollected(batch, seed);
}

/** Rejects with the smallest composition that keeps its requests reachable. */
async function assertCollected(batch: readonly Played[], seed: number): Promise<void> {
  const [first] = await notCollected(batch);
  if (first === undefined) return;
  const collected = fc.asyncProperty(anyComposition, async (composition) => {
    const remains = await play(composition);
    const [kept] = await notCollected([{ remains }]);
    if (kept) throw new Error(`keeps ${kept.remains.kept.join(', ')}\n${JSON.stringify(composition)}`);
  });
  await fc.assert(collected, { seed, path: String(first.run), numRuns: 1 });
  throw new Error(`keeps ${first.remains.kept.join(', ')} once\n${JSON.stringify(first.composition)}`);
}
