import { assertSchedules } from './explore.js';
import {
  calmModesSchedule,
  calmSchedule,
  lossyModesSchedule,
  lossySchedule,
  stormyModesSchedule,
  stormySchedule,
} from './schedule.arbitrary.js';

describe('Thousands of random schedules of several instances', () => {
  it('grants a free lock within one trip when nothing but a process fails', async () => {
    await assertSchedules('calm', calmSchedule, 15_000);
  });

  it('excludes and leaves nobody behind, whatever the network and the processes do', async () => {
    await assertSchedules('stormy', stormySchedule, 40_000);
  });

  it('lets tokens grow and goes on when the server loses its data', async () => {
    await assertSchedules('lossy', lossySchedule, 15_000);
  });

  it('grants readers, writers and permits within one trip when nothing but a process fails', async () => {
    await assertSchedules('calm modes', calmModesSchedule, 3_000);
  });

  it('lets only those in together who may be, and leaves nobody behind, whatever happens', async () => {
    await assertSchedules('stormy modes', stormyModesSchedule, 6_000);
  });

  it('goes on with readers, writers and permits when the server loses its data', async () => {
    await assertSchedules('lossy modes', lossyModesSchedule, 3_000);
  });
});
