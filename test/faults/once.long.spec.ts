import { randomInt } from 'node:crypto';
import { playOnce } from './support/once-chaos.js';
import { SeededRandom } from './support/seeded-random.js';

const NAMES = 1_000;

describe('once() in four processes that are killed and stopped, on a Redis that is killed', () => {
  it('has one result for each name within keep, and runs each name again until it has one', async () => {
    const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
    const { problems, ...figures } = await playOnce(NAMES, new SeededRandom(seed));
    process.stdout.write(`FAULT_SEED=${seed} ${JSON.stringify(figures)}\n`);
    expect(problems).toEqual([]);
    expect(figures.effects).toBeGreaterThanOrEqual(NAMES);
  });
});
