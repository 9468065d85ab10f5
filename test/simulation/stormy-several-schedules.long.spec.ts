import { describeSchedules } from './describe-schedules.js';

describeSchedules('Thousands of random schedules with faults and calls for several names', {
  'stormy several': 20_000,
});
