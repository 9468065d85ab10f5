import { describeSchedules } from './describe-schedules.js';

describeSchedules('Thousands of random schedules of several instances', {
  calm: 8_000,
  stormy: 20_000,
  lossy: 8_000,
  modes: { calm: 3_000, stormy: 6_000, lossy: 3_000 },
});
