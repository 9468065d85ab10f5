import { faulty } from '../../simulation/deliberate-faults/deliberate-fault.js';
import { borderFaults, rareBorderFaults } from './border.faults.js';

/** The long suite catches the faults; this one notices at once that a line of lib has changed. */
describe('The code of a deliberate fault at the border', () => {
  it.each([...borderFaults, ...rareBorderFaults])('occurs once: $fault', (fault) => {
    expect(() => faulty(fault)).not.toThrow();
  });
});
