import { describeSchedules } from './describe-schedules.js';

describeSchedules('Thousands of random schedules of several instances', {
  calm: 15_000,
  stormy: 40_000,
  lossy: 15_000,
  modes: { calm: 3_000, stormy: 6_000, lossy: 3_000 },
});
