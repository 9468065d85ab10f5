import { describeOnceSchedules } from './describe-once-schedules.js';

// All of it is work: how long that takes is up to the machine.
jest.setTimeout(120_000);

describeOnceSchedules('Random callers of once()', { calm: 40, stormy: 80, lossy: 40 });
