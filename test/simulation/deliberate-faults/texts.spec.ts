import { faulty } from './deliberate-fault.js';
import { oneRedisFaults, refusalFaults } from './one-redis.faults.js';
import { onceFaults } from './once.faults.js';
import { quorumFaults } from './quorum.faults.js';

/** The long suites catch the faults; this one notices at once that a line of lib has changed. */
describe('The code of a deliberate fault', () => {
  it.each([...oneRedisFaults, ...refusalFaults, ...onceFaults, ...quorumFaults])(
    'occurs once: $fault',
    (fault) => {
      expect(() => faulty(fault)).not.toThrow();
    },
  );
});
