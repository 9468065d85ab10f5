import { describeSchedules } from './describe-schedules.js';

describeSchedules('Thousands of random schedules with faults', { stormy: 20_000 });
