import { describe as figures, explore } from './explore.js';
import { largerWorlds } from './plans.js';

describe('Every order of events in a larger world', () => {
  it.each(largerWorlds)('keeps the rules: $title', (plan) => {
    const found = explore(plan);
    process.stdout.write(figures(plan.title, found));

    expect(found.problem).toBe('');
  });
});
