import { resolve } from 'node:path';
import { faulty } from '../simulation/deliberate-faults/deliberate-fault.js';
import { faultsOfOneName } from './faults.js';

const ROOT = resolve(__dirname, '../..');

describe('The exploration of small worlds', () => {
  afterEach(() => {
    for (const { fault } of faultsOfOneName) jest.dontMock(resolve(ROOT, fault.file));
  });

  it.each(faultsOfOneName)('finds: $plan.title', async ({ fault, plan }) => {
    const file = resolve(ROOT, fault.file);
    jest.doMock(file, () => faulty(fault));
    await jest.isolateModulesAsync(async () => {
      const { explore, report } = jest.requireActual<typeof import('./explore.js')>('./explore.js');
      const found = await explore(plan, 60_000);
      process.stdout.write(report(plan, found));

      expect(found.problem).not.toBe('');
    });
  });
});
