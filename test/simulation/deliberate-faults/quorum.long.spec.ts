import type { Schedule } from '../schedule.js';
import { describeDeliberateFaults, type Game } from './deliberate-fault.js';
import { quorumFaults } from './quorum.faults.js';

describeDeliberateFaults('The simulation of a quorum', quorumFaults, (): Game<Schedule> => {
  const { anyQuorumSchedule } = jest.requireActual<typeof import('../quorum/quorum-schedule.arbitrary.js')>(
    '../quorum/quorum-schedule.arbitrary.js',
  );
  const { Simulation } = jest.requireActual<typeof import('../simulation.js')>('../simulation.js');
  return { schedules: anyQuorumSchedule, play: (schedule) => new Simulation(schedule).run() };
});
