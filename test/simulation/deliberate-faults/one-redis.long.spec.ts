import type { Schedule } from '../schedule.js';
import { describeDeliberateFaults, type Game } from './deliberate-fault.js';
import { oneRedisFaults } from './one-redis.faults.js';

describeDeliberateFaults('The simulation of one Redis', oneRedisFaults, (): Game<Schedule> => {
  const { anySchedule } =
    jest.requireActual<typeof import('../schedule.arbitrary.js')>('../schedule.arbitrary.js');
  const { Simulation } = jest.requireActual<typeof import('../simulation.js')>('../simulation.js');
  return { schedules: anySchedule, play: (schedule) => new Simulation(schedule).run() };
});
