import { explore, report } from './explore.js';
import { exclusiveWorlds } from './plans.js';

describe('Every order of events in a world with exclusive holds', () => {
  it.each(exclusiveWorlds)('keeps the rules: $title', async (plan) => {
    const found = await explore(plan);
    process.stdout.write(report(plan, found));

    expect(found).toMatchObject({ problem: '', isWhole: true });
  });
});
