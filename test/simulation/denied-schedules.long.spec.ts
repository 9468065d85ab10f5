import { describeSchedules } from './describe-schedules.js';

describeSchedules('Thousands of random schedules with requests that the server refuses for good', {
  denied: 12_000,
  'denied several': 8_000,
});
