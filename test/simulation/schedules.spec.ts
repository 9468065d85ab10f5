import { describeSchedules } from './describe-schedules.js';

// All of it is work: how long that takes is up to the machine.
jest.setTimeout(120_000);

describeSchedules('Random schedules of several instances', {
  calm: 150,
  stormy: 250,
  lossy: 120,
  modes: { calm: 40, stormy: 60, lossy: 40 },
});
