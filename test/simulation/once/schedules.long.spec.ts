import { describeOnceSchedules } from './describe-once-schedules.js';

describeOnceSchedules('Thousands of random callers of once()', { calm: 8_000, stormy: 16_000, lossy: 8_000 });
