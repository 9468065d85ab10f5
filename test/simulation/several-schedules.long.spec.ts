import { describeSchedules } from './describe-schedules.js';

describeSchedules('Thousands of random schedules with calls for several names', {
  'calm several': 20_000,
  'lossy several': 20_000,
});
