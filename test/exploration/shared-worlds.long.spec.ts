import { explore, report } from './explore.js';
import { sharedWorlds } from './plans.js';

describe('Every order of events in a world with shared holds', () => {
  it.each(sharedWorlds)('keeps the rules: $title', (plan) => {
    const found = explore(plan);
    process.stdout.write(report(plan, found));

    expect(found).toMatchObject({ problem: '', isWhole: true });
  });
});
