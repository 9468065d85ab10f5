import { explore, report } from './explore.js';
import { largerWorlds } from './plans.js';

describe('Every order of events in a larger world', () => {
  it.each(largerWorlds)('keeps the rules: $title', (plan) => {
    const found = explore(plan);
    process.stdout.write(report(plan, found));

    expect(found).toMatchObject({ problem: '', isWhole: true });
  });
});
