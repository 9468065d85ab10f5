import { SEED } from '../simulation/seed.js';
import { assertCompositions, TIMES } from './explore.js';

// How long they take is up to the machine.
jest.setTimeout(120_000);

describe(`Random compositions of an application, seed ${SEED}`, () => {
  it('hold the lock until the last commit, and leave nothing', () => assertCompositions(200 * TIMES));
});
