import type { OnceSchedule, OnceStep } from './once-schedule.js';
import { OnceSimulation } from './once.simulation.js';

const CALL: OnceStep = {
  kind: 'once',
  instance: 0,
  name: 'x',
  ttl: 4_000,
  keep: 30,
  wait: Infinity,
  outageTimeout: 60_000,
  renew: true,
  maxHold: Infinity,
  work: 0,
  fails: false,
  abortAfter: undefined,
};

const calm: Omit<OnceSchedule, 'steps'> = {
  drifts: [0, 0],
  budget: { max: 32, window: 1_000 },
  latencies: [1],
  dated: false,
  straggle: undefined,
};

/** Each broke a rule once: the random schedules found it. */
describe('A schedule of callers of once()', () => {
  it('runs nothing for a caller that gives up while it reads the result under its lock', async () => {
    const steps = [
      { after: 0, ...CALL, abortAfter: 5 },
      { after: 0, ...CALL },
    ];
    await expect(new OnceSimulation({ ...calm, steps }).run()).resolves.toBeUndefined();
  });

  it('has the result with the first read of its instance, also if it was granted the lock before the reply', async () => {
    const steps = [
      { after: 0, ...CALL, work: 88 },
      { after: 0, ...CALL, instance: 1, ttl: 300 },
      { after: 1, ...CALL },
      { after: 0, ...CALL },
    ];
    await expect(new OnceSimulation({ ...calm, latencies: [3], steps }).run()).resolves.toBeUndefined();
  });
});
