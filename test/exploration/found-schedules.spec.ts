import { resolve } from 'node:path';
import { faulty } from '../simulation/deliberate-faults/deliberate-fault.js';
import { faultsOfOneName } from './faults.js';
import { replay } from './schedule.js';

/** The exploration prints each case. Paste it here. */
describe('A schedule that the exploration found', () => {
  it('breaks the same rule in a replay of its printed case, and no rule in correct code', async () => {
    const { fault, plan } = faultsOfOneName[0];
    jest.doMock(resolve(__dirname, '../..', fault.file), () => faulty(fault));
    await jest.isolateModulesAsync(async () => {
      const { explore, report } = jest.requireActual<typeof import('./explore.js')>('./explore.js');
      const again = jest.requireActual<typeof import('./schedule.js')>('./schedule.js');
      const found = await explore(plan);
      const text = report(plan, found);
      const printed = text.slice(text.indexOf('\n'));

      expect(await outcomeOf(printed, again.replay)).toBe(found.problem);
      expect(await outcomeOf(printed, replay)).toBe('');
    });
    expect.assertions(4);
  });
});

/** What the printed case passes to `expect`. */
async function outcomeOf(printed: string, play: typeof replay): Promise<unknown> {
  let outcome: unknown;
  let made: Promise<void> | undefined;
  const it = (_: string, test: () => Promise<void>): void => void (made = test());
  const judge = (found: unknown): object => {
    outcome = found;
    return { toBe: (expected: unknown) => expect(expected).toBe('') };
  };
  // oxlint-disable-next-line typescript/no-implied-eval -- It is the project's own code.
  new Function('it', 'expect', 'replay', printed)(it, judge, play);
  await made;
  return outcome;
}
