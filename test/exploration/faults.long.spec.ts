import { resolve } from 'node:path';
import { faulty } from '../simulation/deliberate-faults/deliberate-fault.js';
import { faultsOfOneName } from './faults.js';

const ROOT = resolve(__dirname, '../..');

describe('The exploration of small worlds', () => {
  it.each(faultsOfOneName)('finds: $plan.title', ({ fault, plan }) => {
    jest.isolateModules(() => {
      jest.doMock(resolve(ROOT, fault.file), () => faulty(fault));
      const { describe: figures, explore } =
        jest.requireActual<typeof import('./explore.js')>('./explore.js');
      const found = explore(plan);
      process.stdout.write(figures(plan.title, found));

      expect(found.problem).not.toBe('');
    });
    jest.dontMock(resolve(ROOT, fault.file));
  });
});
