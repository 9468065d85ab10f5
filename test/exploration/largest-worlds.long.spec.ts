import { explore, report } from './explore.js';
import { largestWorlds } from './plans.js';

describe('Every order of events in one of the largest worlds', () => {
  it.each(largestWorlds)('keeps the rules: $title', async (plan) => {
    const found = await explore(plan);
    process.stdout.write(report(plan, found));

    expect(found).toMatchObject({ problem: '', isWhole: true });
  });
});
