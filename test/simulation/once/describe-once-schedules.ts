import { TIMES } from '../describe-schedules.js';
import { assertSchedules } from '../explore.js';
import { SEED } from '../seed.js';
import type { OnceSchedule } from './once-schedule.js';
import { calmOnceSchedule, lossyOnceSchedule, stormyOnceSchedule } from './once-schedule.arbitrary.js';
import { OnceSimulation } from './once.simulation.js';

const KINDS = {
  calm: {
    schedules: calmOnceSchedule,
    that: 'shares each result with all waiters at once when only processes fail',
  },
  stormy: {
    schedules: stormyOnceSchedule,
    that: 'lets at most one run succeed within keep, whatever the network and the processes do',
  },
  lossy: {
    schedules: lossyOnceSchedule,
    that: 'keeps the result of no stale run when the server loses its data',
  },
};

const play = (schedule: OnceSchedule): Promise<void> => new OnceSimulation(schedule).run();

/**
 * Plays random schedules of callers of `once`.
 *
 * @param counts how many of each kind
 */
export function describeOnceSchedules(title: string, counts: Record<keyof typeof KINDS, number>): void {
  describe(`${title}, seed ${SEED}`, () => {
    for (const [kind, count] of Object.entries(counts) as [keyof typeof KINDS, number][]) {
      const { schedules, that } = KINDS[kind];
      it(that, () => assertSchedules(`${kind} once`, schedules, play, count * TIMES));
    }
  });
}
