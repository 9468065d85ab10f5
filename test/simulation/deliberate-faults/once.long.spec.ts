import type { OnceSchedule } from '../once/once-schedule.js';
import { describeDeliberateFaults, type Game } from './deliberate-fault.js';
import { onceFaults } from './once.faults.js';

describeDeliberateFaults('The simulation of once()', onceFaults, (): Game<OnceSchedule> => {
  const { anyOnceSchedule } = jest.requireActual<typeof import('../once/once-schedule.arbitrary.js')>(
    '../once/once-schedule.arbitrary.js',
  );
  const { OnceSimulation } = jest.requireActual<typeof import('../once/once.simulation.js')>(
    '../once/once.simulation.js',
  );
  return { schedules: anyOnceSchedule, play: (schedule) => new OnceSimulation(schedule).run() };
});
