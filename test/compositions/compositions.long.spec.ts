import { SEED } from '../simulation/seed.js';
import { assertCompositions, TIMES } from './explore.js';

describe(`Thousands of random compositions of an application, seed ${SEED}`, () => {
  it('hold the lock until the last commit, and leave nothing', () => assertCompositions(5_000 * TIMES));
});
