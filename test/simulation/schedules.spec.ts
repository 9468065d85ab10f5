import { assertSchedules } from './explore.js';
import { calmSchedule, lossySchedule, stormySchedule } from './schedule.arbitrary.js';

describe('Random schedules of several instances', () => {
  it('grants a free lock within one trip when nothing but a process fails', async () => {
    await assertSchedules('calm', calmSchedule, 700);
  });

  it('excludes and leaves nobody behind, whatever the network and the processes do', async () => {
    await assertSchedules('stormy', stormySchedule, 1_200);
  });

  it('lets tokens grow and goes on when the server loses its data', async () => {
    await assertSchedules('lossy', lossySchedule, 600);
  });
});
