import { caller, type TimedStep } from '../schedule.js';
import { play } from '../simulation.js';

const exact = { ahead: 0, drift: 0 };

/** Each went wrong once, as the random schedules found out and shrank it. */
describe('A schedule that was found on a quorum', () => {
  it('gives the next hold another token when an instance ran ahead of the clocks with the last one', async () => {
    const steps: TimedStep[] = [
      caller({ after: 20, ttl: 300, work: 3_000, abortAfter: 0 }),
      { after: 1.5, kind: 'reset', instance: 0, lasts: 1, resends: true },
      caller({ after: 10, instance: 1, ttl: 300, maxHold: 50, work: 3_000 }),
      { after: 3, kind: 'refuse', lasts: 3, node: 0 },
      caller({}),
      caller({ instance: 1 }),
      { after: 7, kind: 'crash', instance: 0, noticedAfter: 0 },
    ];
    const quorum = { nodeTimeout: 50, clocks: [exact, { ahead: 900, drift: 0 }, exact], dice: [0.5, 0] };
    const budget = { max: 32, window: 1_000 };
    await expect(play(steps, { latencies: [1, 3], budget, quorum })).resolves.toBeUndefined();
  });

  it('becomes idle after a node was silent for longer than a request may take', async () => {
    const steps: TimedStep[] = [
      caller({ after: 20, ttl: 300, work: 2_000 }),
      { after: 0, kind: 'freeze', instance: 0, lasts: 200, order: ['replies', 'timers', 'messages'] },
      caller({ after: 1, instance: 1, work: 3_000 }),
      { after: 20, kind: 'slow', instance: 0, what: 'requests', lasts: 30, by: 20, node: 4 },
      caller({ after: 2 }),
      caller({ after: 10, instance: 1 }),
      { after: 0, kind: 'pause', lasts: 4_000, node: 0 },
      { after: 8, kind: 'cut', instance: 0, what: 'requests', lasts: 3 },
      { after: 45, kind: 'reset', instance: 1, lasts: 3, resends: false },
      { after: 15, kind: 'slow', instance: 0, what: 'requests', lasts: 100, by: 50 },
    ];
    const quorum = { nodeTimeout: 50, clocks: [exact, exact, exact], dice: [0] };
    await expect(play(steps, { drifts: [-1, 0], latencies: [12], quorum })).resolves.toBeUndefined();
  });

  it('proposes once more where the counter of a name is ahead of the clocks', async () => {
    const steps = [caller({ ttl: 300, abortAfter: 0 }), caller({ instance: 1 })];
    const quorum = { nodeTimeout: 50, clocks: [{ ahead: 5_000, drift: 0 }, exact, exact], dice: [0] };
    const budget = { max: 32, window: 1_000 };
    await expect(play(steps, { latencies: [3], budget, quorum })).resolves.toBeUndefined();
  });
});
