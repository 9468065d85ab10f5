import { describeSchedules } from './describe-schedules.js';

// All of it is work: how long that takes is up to the machine.
jest.setTimeout(120_000);

describeSchedules('Random schedules of several instances', {
  calm: 500,
  stormy: 800,
  lossy: 400,
  modes: { calm: 100, stormy: 200, lossy: 100 },
});
