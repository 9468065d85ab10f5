import { explore, report } from './explore.js';
import { furtherWorlds } from './plans.js';

describe('Every order of events in a further world', () => {
  it.each(furtherWorlds)('keeps the rules: $title', async (plan) => {
    const found = await explore(plan);
    process.stdout.write(report(plan, found));

    expect(found).toMatchObject({ problem: '', isWhole: true });
  });
});
