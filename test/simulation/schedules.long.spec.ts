import { describeSchedules } from './describe-schedules.js';

// A file is the work of one core: stormy ones and those with modes have files of their own.
describeSchedules('Thousands of random schedules of several instances', { calm: 8_000, lossy: 8_000 });
