import { describeSchedules } from '../describe-schedules.js';

describeSchedules('Thousands of random schedules of several instances on a quorum', {
  'calm quorum': 1_500,
  'stormy quorum': 3_500,
});
