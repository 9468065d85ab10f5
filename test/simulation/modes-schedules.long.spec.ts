import { describeSchedules } from './describe-schedules.js';

describeSchedules('Thousands of random schedules with modes', {
  'calm modes': 3_000,
  'stormy modes': 6_000,
  'lossy modes': 3_000,
});
