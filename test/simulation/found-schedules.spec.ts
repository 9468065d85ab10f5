import { caller, type TimedStep } from './schedule.js';
import { play } from './simulation.js';

// All of it is work: how long it takes is up to the machine.
jest.setTimeout(120_000);

/** Each went wrong once, as the random schedules found out and shrank it. */
describe('A schedule that was found', () => {
  it('calls a wait that ends while a turn ends a timeout, not an outage', async () => {
    const callers = [
      caller({ instance: 1, work: 18 }),
      caller({ instance: 1, wait: 30 }),
      caller({ instance: 0 }),
    ];
    await expect(play(callers, { latencies: [3] })).resolves.toBeUndefined();
  });

  it('ends the wait of the first caller in time when another came before its request was answered', async () => {
    const callers = [
      caller({ instance: 0, wait: 30 }),
      caller({ after: 6, instance: 0, ttl: 40, wait: 30 }),
      caller({ instance: 1, ttl: 40 }),
    ];
    await expect(play(callers, { latencies: [12, 1] })).resolves.toBeUndefined();
  });

  it('renews a lease that was kept for minHold and then passed on in memory', async () => {
    const callers = [
      caller({}),
      caller({ ttl: 100, minHold: 30 }),
      caller({ work: 97 }),
      caller({}),
      caller({}),
    ];
    await expect(play(callers, { budget: { max: 32, window: 1_000 } })).resolves.toBeUndefined();
  });

  it('does not trust the reply to a renewal if a shorter one has followed', async () => {
    const steps: TimedStep[] = [
      caller({ ttl: 40, work: 30, abortAfter: 0 }),
      caller({ ttl: 40, renew: false, minHold: 400, work: 3_000 }),
      { after: 10, kind: 'slow', instance: 0, what: 'replies', lasts: 60, by: 20 },
      caller({ after: 90, instance: 1, work: 3_000 }),
      caller({ ttl: 40 }),
    ];
    await expect(play(steps, { latencies: [1, 12, 1] })).resolves.toBeUndefined();
  });

  it('ends a wait in time also while grants come too late to be used', async () => {
    const steps: TimedStep[] = [
      { after: 0, kind: 'slow', instance: 0, what: 'replies', lasts: 1_500, by: 300 },
      caller({ ttl: 300, wait: 1_000 }),
      caller({ instance: 1 }),
      { after: 0, kind: 'slow', instance: 0, what: 'replies', lasts: 2, by: 1_200 },
      { after: 2, kind: 'reset', instance: 0, lasts: 1, resends: true },
    ];
    await expect(play(steps)).resolves.toBeUndefined();
  });

  it.each([
    { mode: 'exclusive', limit: undefined },
    { mode: 'shared', limit: Infinity },
  ])(
    'ends a wait in time also when its grant was released forcibly before it was known ($mode)',
    async ({ limit }) => {
      const steps: TimedStep[] = [
        caller({ name: 'y' }),
        { after: 100, kind: 'slow', instance: 0, what: 'replies', lasts: 1_000, by: 12 },
        caller({ wait: 20, limit }),
        { after: 3, kind: 'forceRelease', name: 'x' },
        caller({ after: 20, instance: 1, name: 'y' }),
      ];
      await expect(play(steps)).resolves.toBeUndefined();
    },
  );

  it('does not hand the lock off again when the end of a turn arrives a second time', async () => {
    const steps: TimedStep[] = [
      caller({ work: 10 }),
      caller({ work: 3_000 }),
      { after: 10, kind: 'slow', instance: 0, what: 'requests', lasts: 4, by: 500 },
      { after: 5, kind: 'reset', instance: 0, lasts: 1, resends: true },
      caller({ after: 20, instance: 1, work: 3_000 }),
    ];
    await expect(play(steps, { straggle: 100 })).resolves.toBeUndefined();
  });

  it('does not shorten a lease when an old renewal arrives a second time', async () => {
    const steps: TimedStep[] = [
      caller({ instance: 1, work: 28 }),
      caller({ ttl: 40, work: 23, abortAfter: 0 }),
      caller({ ttl: 40, work: 3_000, extend: { after: 0, ttl: 12_000 } }),
      { after: 21, kind: 'slow', instance: 0, what: 'requests', lasts: 10, by: 500 },
      { after: 12, kind: 'reset', instance: 0, lasts: 1, resends: true },
      caller({ instance: 1, work: 3_000 }),
      caller({}),
    ];
    await expect(play(steps, { straggle: 10 })).resolves.toBeUndefined();
  });

  it('admits readers although a writer’s request to leave was lost', async () => {
    const steps: TimedStep[] = [
      caller({ instance: 1, limit: Infinity, work: 8_000 }),
      caller({ after: 10, instance: 1, abortAfter: 20 }),
      { after: 19, kind: 'refuse', lasts: 100 },
      caller({ after: 200, limit: Infinity }),
    ];
    await expect(play(steps)).resolves.toBeUndefined();
  });

  it('asks again at once when its inbox opened while a turn ended', async () => {
    const callers = [
      caller({ instance: 1, ttl: 300 }),
      caller({ ttl: 300, abortAfter: 0 }),
      caller({ ttl: 300 }),
      caller({ ttl: 300 }),
    ];
    await expect(play(callers, { latencies: [3, 1] })).resolves.toBeUndefined();
  });

  it('admits no writer beside a reader because its own inbox is closed', async () => {
    const steps: TimedStep[] = [
      caller({ work: 15 }),
      caller({ after: 1 }),
      caller({ after: 1, ttl: 40, limit: Infinity }),
      { after: 1, kind: 'refuse', lasts: 20 },
      { after: 0, kind: 'deafen', instance: 0, lasts: 3, first: 'server', lag: 500 },
      caller({ instance: 1, ttl: 40, minHold: 400, work: 1, limit: Infinity }),
      caller({ work: 1 }),
    ];
    await expect(play(steps)).resolves.toBeUndefined();
  });

  it('relies on no extension that a request for a shorter lease may undo, which is sent twice', async () => {
    const steps: TimedStep[] = [
      caller({ after: 1, ttl: 40, work: 1, limit: Infinity }),
      caller({ after: 1, limit: Infinity }),
      caller({ ttl: 100, work: 2_000, extend: { after: 2, ttl: 12_000 }, limit: Infinity }),
      { after: 5, kind: 'reset', instance: 0, lasts: 1, resends: true },
      caller({ after: 1, ttl: 40 }),
    ];
    const conditions = { budget: { max: 1, window: 1_000 }, straggle: 10 };
    await expect(play(steps, conditions)).resolves.toBeUndefined();
  });

  it('releases no awaited grant when it leaves another place', async () => {
    const steps: TimedStep[] = [
      caller({ after: 1, ttl: 40 }),
      caller({ instance: 1, ttl: 40 }),
      caller({}),
      caller({ after: 1, limit: Infinity }),
      { after: 0, kind: 'slow', instance: 0, what: 'messages', lasts: 1_500, by: 300 },
      caller({ ttl: 40, work: 1, limit: Infinity }),
      caller({ after: 1, ttl: 40 }),
      caller({ after: 1, limit: Infinity }),
      caller({ instance: 1, ttl: 40, limit: 1 }),
      { after: 2, kind: 'deafen', instance: 1, lasts: 4_000, first: 'client', lag: 0 },
      caller({ after: 1 }),
    ];
    await expect(play(steps)).resolves.toBeUndefined();
  });

  it('hands a free lock on when the notified reader leaves', async () => {
    const shared = { limit: Infinity };
    const steps: TimedStep[] = [
      caller({ work: 28 }),
      caller({ after: 1, abortAfter: 0 }),
      caller({ after: 1, ...shared }),
      caller({ after: 1, ...shared }),
      caller({ after: 1, instance: 1, abortAfter: 0 }),
      caller({ after: 1 }),
      caller({ instance: 1, abortAfter: 27 }),
      caller({}),
      caller({ after: 1, ...shared }),
      caller({ ...shared }),
      caller({ instance: 1, wait: 30, ...shared }),
      caller({ ...shared }),
    ];
    await expect(play(steps, { latencies: [3, 1, 1] })).resolves.toBeUndefined();
  });

  it('reports an outage in time to an attempt for several names, also after a rejected request', async () => {
    const steps: TimedStep[] = [
      { after: 0, kind: 'refuse', lasts: 1_500 },
      caller({ also: ['y'], ttl: 1_000, wait: 0, outageTimeout: 100, work: 1 }),
    ];
    await expect(play(steps, { latencies: [3] })).resolves.toBeUndefined();
  });

  it('ends an attempt in time although a grant arrives too late and the reply is missing', async () => {
    const steps: TimedStep[] = [
      caller({ instance: 1, ttl: 40, work: 8 }),
      caller({ after: 1, instance: 1, ttl: 40 }),
      caller({ after: 1, instance: 1, limit: Infinity }),
      { after: 12, kind: 'cut', instance: 1, what: 'replies', lasts: 3 },
      caller({ after: 1, work: 25 }),
      caller({ instance: 1 }),
      caller({ ttl: 40 }),
      caller({ after: 1, limit: Infinity }),
      caller({ instance: 1, ttl: 40, wait: 0, outageTimeout: 100, limit: Infinity }),
      { after: 1, kind: 'reset', instance: 1, lasts: 4_000, resends: false },
      { after: 26, kind: 'crash', instance: 0, noticedAfter: 0 },
    ];
    await expect(play(steps)).resolves.toBeUndefined();
  });

  it('returns the grant of a yield whose reply was lost if the next caller shares the lock', async () => {
    const steps: TimedStep[] = [
      caller({ name: 'y' }),
      { after: 4, kind: 'deafen', instance: 0, lasts: 100, first: 'client', lag: 0 },
      caller({ after: 5, work: 10 }),
      caller({ ttl: 12_000, abortAfter: 13 }),
      caller({ limit: Infinity }),
      { after: 13.5, kind: 'reset', instance: 0, lasts: 3, resends: true },
    ];
    await expect(play(steps)).resolves.toBeUndefined();
  });

  it('repeats a release for the whole lease although a refused extension was shorter', async () => {
    const steps: TimedStep[] = [
      caller({ work: 14, extend: { after: 13, ttl: 40 } }),
      { after: 14, kind: 'refuse', lasts: 100 },
    ];
    await expect(play(steps)).resolves.toBeUndefined();
  });

  it('leaves the queue for the whole lease although a refused yield followed a shorter extension', async () => {
    const steps: TimedStep[] = [
      caller({ ttl: 12_000, work: 14, extend: { after: 13, ttl: 40 } }),
      caller({ after: 1, ttl: 40, outageTimeout: 100 }),
      { after: 13, kind: 'refuse', lasts: 300 },
    ];
    await expect(play(steps)).resolves.toBeUndefined();
  });
});
