import { explore, report } from './explore.js';
import { smallWorlds } from './plans.js';

describe('Every order of events in a small world', () => {
  it.each(smallWorlds)(
    'keeps the rules: $title',
    async (plan) => {
      const found = await explore(plan);
      process.stdout.write(report(plan, found));

      expect(found).toMatchObject({ problem: '', isWhole: true });
    },
    120_000,
  );
});
