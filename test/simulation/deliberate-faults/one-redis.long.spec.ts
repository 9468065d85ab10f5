import type { Schedule } from '../schedule.js';
import { describeDeliberateFaults, type Game } from './deliberate-fault.js';
import { oneRedisFaults, refusalFaults, severalNamesFaults } from './one-redis.faults.js';

const gameOf = (kind: 'anySchedule' | 'anySeveralSchedule' | 'deniedSchedule') => (): Game<Schedule> => {
  const { [kind]: schedules } =
    jest.requireActual<typeof import('../schedule.arbitrary.js')>('../schedule.arbitrary.js');
  const { Simulation } = jest.requireActual<typeof import('../simulation.js')>('../simulation.js');
  return { schedules, play: (schedule) => new Simulation(schedule).run() };
};

describeDeliberateFaults('The simulation of one Redis', oneRedisFaults, gameOf('anySchedule'));
describeDeliberateFaults(
  'The simulation of calls for several names',
  severalNamesFaults,
  gameOf('anySeveralSchedule'),
);
describeDeliberateFaults('The simulation of refusals', refusalFaults, gameOf('deniedSchedule'));
