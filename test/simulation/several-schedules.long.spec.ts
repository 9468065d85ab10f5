import { describeSchedules } from './describe-schedules.js';

describeSchedules('Thousands of random schedules with calls for several names', {
  'calm several': 5_000,
  'lossy several': 5_000,
});
