import { Redaction } from '../../../lib/store/redis/connection/redaction.js';
import { Trial } from '../../../lib/store/redis/trial/trial.js';
import { QUIET } from '../../support/quiet.js';
import { ManualClock, settle } from '../engine/manual-clock.js';

/** Longer than the pause before a trial is repeated. */
const SOON = 1_000;

describe('A trial whose message had no receivers', () => {
  it.each([
    { outcome: 'is counted', next: 1, warnings: [] },
    {
      outcome: 'has none again',
      next: 0,
      warnings: [expect.stringContaining('did not count the receivers of a script’s message')],
    },
  ])('is repeated before it warns: the next message $outcome', async ({ next, warnings }) => {
    const clock = new ManualClock();
    const receivers = [0, next];
    const warned: string[] = [];
    const trial: Trial = new Trial({
      scripts: {
        runWithoutTimeout: async (_script, _keys, [, name]) => {
          const count = receivers.shift();
          if (count === 1) trial.hear(String(name));
          return [count, '8.0.0', '', '', '', ''];
        },
      },
      redaction: new Redaction(),
      clock,
      messageTimeout: 5_000,
      log: { ...QUIET, warn: (message) => warned.push(message) },
      where: 'here',
      changed: () => undefined,
    });
    trial.begin(() => ({ key: 'k', channel: 'c' }));
    await settle();
    expect([receivers, warned]).toEqual([[next], []]);
    await clock.advance(SOON);

    expect([receivers, warned]).toEqual([[], warnings]);
    trial.end();
  });
});

describe('What a trial reports', () => {
  const run = async (receivers: number) => {
    const clock = new ManualClock();
    const changes: string[] = [];
    const trial: Trial = new Trial({
      scripts: {
        runWithoutTimeout: async (_script, _keys, [, name]) => {
          if (receivers > 0) trial.hear(String(name));
          return [receivers, '8.0.0', '', '', '', ''];
        },
      },
      redaction: new Redaction(),
      clock,
      messageTimeout: 5_000,
      log: QUIET,
      where: 'here',
      changed: () => changes.push(trial.counting),
    });
    const begin = () => trial.begin(() => ({ key: 'k', channel: 'c' }));
    begin();
    await settle();
    await clock.advance(SOON);
    return { begin, changes, trial };
  };

  it.each([
    { receivers: 1, counting: 'counted', next: 'untried' },
    { receivers: 0, counting: 'uncounted', next: 'uncounted' },
  ])('is $counting, and $next while a new connection is tried', async ({ receivers, counting, next }) => {
    const { begin, changes, trial } = await run(receivers);
    expect(changes).toEqual([counting]);
    begin();
    expect(trial.counting).toBe(next);
    await settle();
    trial.end();

    expect(trial.counting).toBe(next);
  });

  it('does not count a late message of an earlier trial', async () => {
    const names: string[] = [];
    const trial = new Trial({
      scripts: {
        runWithoutTimeout: async (_script, _keys, [, name]) => {
          names.push(String(name));
          return [1, '8.0.0', '', '', '', ''];
        },
      },
      redaction: new Redaction(),
      clock: new ManualClock(),
      messageTimeout: 5_000,
      log: QUIET,
      where: 'here',
      changed: () => undefined,
    });
    for (let connection = 0; connection < 2; connection++) {
      trial.begin(() => ({ key: 'k', channel: 'c' }));
      await settle();
    }
    const countings = names.map((name) => {
      trial.hear(name);
      return trial.counting;
    });
    trial.end();

    expect(countings).toEqual(['untried', 'counted']);
  });
});
