import { assertSchedules } from './explore.js';
import { calmQuorumSchedule, stormyQuorumSchedule } from './quorum/quorum-schedule.arbitrary.js';
import {
  calmModesSchedule,
  calmSchedule,
  calmSeveralSchedule,
  deniedSchedule,
  deniedSeveralSchedule,
  lossyModesSchedule,
  lossySchedule,
  lossySeveralSchedule,
  stormyModesSchedule,
  stormySchedule,
  stormySeveralSchedule,
} from './schedule.arbitrary.js';
import { SEED } from './seed.js';
import type { Schedule } from './schedule.js';
import { Simulation } from './simulation.js';

/** What holds in random schedules of several instances: with exclusive holds alone, and with modes. */
const KINDS = {
  calm: {
    schedules: calmSchedule,
    that: 'grants a free lock within one trip when nothing but a process fails',
  },
  stormy: {
    schedules: stormySchedule,
    that: 'excludes and leaves nobody behind, whatever the network and the processes do',
  },
  lossy: {
    schedules: lossySchedule,
    that: 'lets tokens grow and goes on when the server loses its data',
  },
  'calm modes': {
    schedules: calmModesSchedule,
    that: 'grants readers, writers and permits within one trip when nothing but a process fails',
  },
  'stormy modes': {
    schedules: stormyModesSchedule,
    that: 'lets only those in together who may be, and leaves nobody behind, whatever happens',
  },
  'lossy modes': {
    schedules: lossyModesSchedule,
    that: 'goes on with readers, writers and permits when the server loses its data',
  },
  'calm several': {
    schedules: calmSeveralSchedule,
    that: 'grants all names of a call within some trips when nothing but a process fails',
  },
  'stormy several': {
    schedules: stormySeveralSchedule,
    that: 'grants all names of a call or none, whatever the network and the processes do',
  },
  'lossy several': {
    schedules: lossySeveralSchedule,
    that: 'goes on with calls for several names when the server loses its data',
  },
  denied: {
    schedules: deniedSchedule,
    that: 'excludes and leaves no lock behind when the server refuses requests for good',
  },
  'denied several': {
    schedules: deniedSeveralSchedule,
    that: 'grants all names of a call or none when the server refuses requests for good',
  },
  'calm quorum': {
    schedules: calmQuorumSchedule,
    that: 'grants readers and writers on a quorum when nothing but a process fails',
  },
  'stormy quorum': {
    schedules: stormyQuorumSchedule,
    that: 'excludes and leaves nobody behind on a quorum, whatever nodes, networks and processes do',
  },
};
const play = (schedule: Schedule): Promise<void> => new Simulation(schedule).run();

type Kind = keyof typeof KINDS;

/** How many times as many schedules to play. */
export const TIMES = Number(process.env['SIMULATION_TIMES'] ?? 1);

/**
 * Plays random schedules of these kinds.
 *
 * @param counts how many of each
 */
export function describeSchedules(title: string, counts: Partial<Record<Kind, number>>): void {
  describe(`${title}, seed ${SEED}`, () => {
    for (const [kind, count] of Object.entries(counts) as [Kind, number][]) {
      const { schedules, that } = KINDS[kind];
      it(that, () => assertSchedules(kind, schedules, play, count * TIMES));
    }
  });
}
