import { Redaction } from '../../../lib/store/redis/connection/redaction.js';
import { Trial } from '../../../lib/store/redis/trial/trial.js';
import { QUIET } from '../../support/quiet.js';
import { ManualClock, settle } from '../engine/manual-clock.js';

/** Longer than the pause before a trial is repeated. */
const SOON = 1_000;

describe('A trial', () => {
  let clock: ManualClock;
  let trial: Trial;
  /** What the trial has published, and how it has counted. */
  let names: string[];
  let changes: string[];
  let warned: string[];

  /** Creates a trial; `receiversOf` gives the number of receivers of each message, and may let them hear it. */
  const create = (receiversOf: (name: string) => number): void => {
    [clock, names, changes, warned] = [new ManualClock(), [], [], []];
    trial = new Trial({
      scripts: {
        runWithoutTimeout: async (_script, _keys, [, given]) => {
          const name = String(given);
          names.push(name);
          return [receiversOf(name), '8.0.0', '', '', '', ''];
        },
      },
      redaction: new Redaction(),
      clock,
      messageTimeout: 5_000,
      log: { ...QUIET, warn: (message) => warned.push(message) },
      where: 'here',
      changed: () => changes.push(trial.counting),
    });
  };
  const hears = (name: string, receivers = 1): number => {
    if (receivers > 0) trial.hear(name);
    return receivers;
  };
  const begin = (): void => trial.begin(() => ({ key: 'k', channel: 'c' }));
  afterEach(() => trial.end());

  it.each([
    { outcome: 'is counted', next: 1, warnings: [] },
    {
      outcome: 'has none again',
      next: 0,
      warnings: [expect.stringContaining('did not count the receivers of a script’s message')],
    },
  ])(
    'whose message had no receivers is repeated before it warns: the next one $outcome',
    async ({ next, warnings }) => {
      const receivers = [0, next];
      create((name) => hears(name, receivers.shift()));
      begin();
      await settle();
      expect([receivers, warned]).toEqual([[next], []]);
      await clock.advance(SOON);

      expect([receivers, warned]).toEqual([[], warnings]);
    },
  );

  it.each([
    { receivers: 1, counting: 'counted', next: 'untried' },
    { receivers: 0, counting: 'uncounted', next: 'uncounted' },
  ])('is $counting, and $next while a new connection is tried', async ({ receivers, counting, next }) => {
    create((name) => hears(name, receivers));
    begin();
    await settle();
    await clock.advance(SOON);
    expect(changes).toEqual([counting]);
    begin();
    expect(trial.counting).toBe(next);
    await settle();
    trial.end();

    expect(trial.counting).toBe(next);
  });

  it('does not count a late message of an earlier one', async () => {
    create(() => 1);
    for (let connection = 0; connection < 2; connection++) {
      begin();
      await settle();
    }
    const countings = names.map((name) => {
      trial.hear(name);
      return trial.counting;
    });

    expect(countings).toEqual(['untried', 'counted']);
  });
});
