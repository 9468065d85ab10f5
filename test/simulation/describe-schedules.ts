import { assertSchedules } from './explore.js';
import {
  calmModesSchedule,
  calmSchedule,
  lossyModesSchedule,
  lossySchedule,
  stormyModesSchedule,
  stormySchedule,
} from './schedule.arbitrary.js';

/** How many schedules of each kind to play: with exclusive holds alone, and with modes. */
export interface ScheduleCounts {
  readonly calm: number;
  readonly stormy: number;
  readonly lossy: number;
  readonly modes: Omit<ScheduleCounts, 'modes'>;
}

/** What holds in random schedules of several instances. */
export function describeSchedules(title: string, { calm, stormy, lossy, modes }: ScheduleCounts): void {
  describe(title, () => {
    it('grants a free lock within one trip when nothing but a process fails', async () => {
      await assertSchedules('calm', calmSchedule, calm);
    });

    it('excludes and leaves nobody behind, whatever the network and the processes do', async () => {
      await assertSchedules('stormy', stormySchedule, stormy);
    });

    it('lets tokens grow and goes on when the server loses its data', async () => {
      await assertSchedules('lossy', lossySchedule, lossy);
    });

    it('grants readers, writers and permits within one trip when nothing but a process fails', async () => {
      await assertSchedules('calm modes', calmModesSchedule, modes.calm);
    });

    it('lets only those in together who may be, and leaves nobody behind, whatever happens', async () => {
      await assertSchedules('stormy modes', stormyModesSchedule, modes.stormy);
    });

    it('goes on with readers, writers and permits when the server loses its data', async () => {
      await assertSchedules('lossy modes', lossyModesSchedule, modes.lossy);
    });
  });
}
