import { describeSchedules } from '../describe-schedules.js';

// All of it is work: how long that takes is up to the machine.
jest.setTimeout(120_000);

describeSchedules('Random schedules of several instances on a quorum', {
  'calm quorum': 15,
  'stormy quorum': 35,
});
