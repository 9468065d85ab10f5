import { describeSchedules } from './describe-schedules.js';

// All of it is work: how long that takes is up to the machine.
jest.setTimeout(120_000);

describeSchedules('Random schedules of several instances', {
  calm: 90,
  stormy: 150,
  lossy: 70,
  'calm modes': 25,
  'stormy modes': 40,
  'lossy modes': 25,
  'calm several': 20,
  'stormy several': 40,
  'lossy several': 20,
});
