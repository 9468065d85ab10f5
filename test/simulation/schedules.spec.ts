import { assertSchedules } from './explore.js';
import { calmSchedule, lossySchedule, stormySchedule } from './schedule.arbitrary.js';

describe('Random schedules of several instances', () => {
  it('grants a free lock within one trip when nothing but a process fails', async () => {
    await assertSchedules('calm', calmSchedule, 1_000);
  });

  it('excludes and leaves nobody behind, whatever the network and the processes do', async () => {
    await assertSchedules('stormy', stormySchedule, 2_000);
  });

  it('lets tokens grow and goes on when the server loses its data', async () => {
    await assertSchedules('lossy', lossySchedule, 1_000);
  });
});
