import { createHash } from 'node:crypto';

const ROLLS = 32_768;
const SIDES = 65_536;

/** Chance that comes out the same for the same seed: each call is true with this probability. */
export function dice(probability: number, seed: string): () => boolean {
  const bytes = createHash('shake256', { outputLength: ROLLS * 2 })
    .update(seed)
    .digest();
  let roll = 0;
  return () => bytes.readUInt16LE((roll++ % ROLLS) * 2) < probability * SIDES;
}
