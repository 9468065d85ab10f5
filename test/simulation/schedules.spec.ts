import { describeSchedules } from './describe-schedules.js';

// All of it is work: how long that takes is up to the machine.
jest.setTimeout(120_000);

describeSchedules('Random schedules of several instances', {
  calm: 45,
  stormy: 75,
  lossy: 35,
  'calm modes': 25,
  'stormy modes': 40,
  'lossy modes': 25,
  'calm several': 20,
  'stormy several': 40,
  'lossy several': 20,
  denied: 40,
  'denied several': 20,
});
