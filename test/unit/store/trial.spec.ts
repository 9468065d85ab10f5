import { Redaction } from '../../../lib/store/redis/connection/redaction.js';
import { Trial } from '../../../lib/store/redis/trial/trial.js';
import { QUIET } from '../../support/quiet.js';
import { ManualClock, settle } from '../engine/manual-clock.js';

/** Longer than the pause before a trial is repeated. */
const SOON = 1_000;
/** The pause until a server with a problem is tried again. */
const LOOK_AGAIN = 30_000;

describe('A trial', () => {
  let clock: ManualClock;
  let trial: Trial;
  /** What the trial has published, and how it has counted. */
  let names: string[];
  let changes: string[];
  let warned: string[];
  let complained: string[];
  let informed: string[];
  let replaced: number;

  /**
   * Creates a trial; `receiversOf` gives the number of receivers of each message, and may let them hear it. `found`
   * gives what the server answers after its version: refusals of a write and of the clock, missing rights, a policy.
   */
  const create = (
    receiversOf: (name: string) => number,
    found = (): readonly string[] => ['', '', '', ''],
  ): void => {
    [clock, names, changes, warned, complained, informed] = [new ManualClock(), [], [], [], [], []];
    replaced = 0;
    trial = new Trial({
      runnerOf: () => ({
        runWithoutTimeout: async (_script, _keys, [, given]) => {
          const name = String(given);
          names.push(name);
          return [receiversOf(name), '8.0.0', ...found()];
        },
      }),
      redaction: new Redaction(),
      clock,
      commandTimeout: 5_000,
      log: {
        ...QUIET,
        log: (message) => informed.push(message),
        warn: (message) => warned.push(message),
        error: (message) => complained.push(message),
      },
      replace: () => {
        replaced += 1;
        // The next connection listens, too.
        begin();
      },
      where: 'here',
      changed: () => changes.push(trial.receivers),
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
      outcome: 'has none again, also on another connection',
      next: 0,
      warnings: [expect.stringContaining('did not count the receivers of a script’s message')],
    },
  ])(
    'whose message had no receivers is repeated before it warns: the next one $outcome',
    async ({ next, warnings }) => {
      const receivers = [0];
      create((name) => hears(name, receivers.shift() ?? next));
      begin();
      await settle();
      expect([receivers, warned]).toEqual([[], []]);
      await clock.advance(SOON);

      expect([replaced, warned]).toEqual([warnings.length, warnings]);
    },
  );

  it('has ended if nothing listens when it is due again, so that the next subscription begins one', async () => {
    let channels = ['c'];
    create(() => 0);
    trial.begin(() => channels.map((channel) => ({ key: 'k', channel })).at(0));
    await settle();
    channels = [];
    await clock.advance(SOON);

    expect([names.length, trial.hasBegun]).toEqual([1, false]);
  });

  it('has ended if nothing listens any more when its message is overdue', async () => {
    let channels = ['c'];
    create(() => 1);
    trial.begin(() => channels.map((channel) => ({ key: 'k', channel })).at(0));
    await settle();
    channels = [];
    await clock.advance(5_000);

    expect([replaced, trial.hasBegun]).toEqual([0, false]);
  });

  it('replaces an established connection that no longer hears, and lets hand-offs continue meanwhile', async () => {
    let heard = true;
    create((name) => hears(name, heard ? 1 : 0) || 1);
    begin();
    await settle();
    heard = false;
    trial.doubt();
    await settle();
    expect([trial.receivers, replaced]).toEqual(['counted', 0]);
    heard = true;
    await clock.advance(500);

    expect([replaced, names.length, trial.receivers]).toEqual([1, 3, 'counted']);
    expect(warned).toEqual([expect.stringContaining('connection for messages')]);
  });

  it('is repeated at most every 1.5 s, however many waiters ask without a message', async () => {
    create((name) => hears(name));
    begin();
    await settle();
    const doubt = async (): Promise<number> => {
      for (let i = 0; i < 10; i++) trial.doubt();
      await settle();
      return names.length;
    };
    expect([await doubt(), await doubt()]).toEqual([2, 2]);
    await clock.advance(1_500);

    expect(await doubt()).toBe(3);
    expect(replaced).toBe(0);
  });

  it('is not repeated while re-asks of waiters are heard', async () => {
    create((name) => hears(name));
    begin();
    await settle();
    for (let i = 0; i < 5; i++) {
      await clock.advance(1_000);
      trial.doubt();
      trial.hear('');
    }
    // The first doubt comes before any re-ask.
    expect(names).toHaveLength(2);
    await clock.advance(1_500);
    trial.doubt();
    await settle();

    expect(names).toHaveLength(3);
  });

  it('is repeated twice a minute although re-asks are heard, which a replica passes on without counting', async () => {
    create((name) => hears(name));
    begin();
    await settle();
    const seconds: number[] = [];
    for (let second = 1; second <= 70; second++) {
      await clock.advance(1_000);
      const before = names.length;
      trial.doubt();
      await settle();
      if (names.length > before) seconds.push(second);
      trial.hear('');
    }

    expect(seconds).toEqual([1, 31, 61]);
  });

  it.each([
    { problem: 'a replica', found: ['READONLY', '', '', ''], says: 'it is a replica' },
    { problem: 'a policy that evicts', found: ['', '', '', 'allkeys-lru'], says: 'allkeys-lru' },
  ])('logs $problem once, its end, and when it comes back', async ({ found, says }) => {
    let problem: string[] | undefined = found;
    create(hears, () => problem ?? ['', '', '', '']);
    begin();
    await settle();
    await clock.advance(LOOK_AGAIN);
    const logged = (): unknown[] => [...warned, ...complained, ...informed];
    expect([names.length, logged()]).toEqual([2, [expect.stringContaining(says)]]);

    problem = undefined;
    await clock.advance(LOOK_AGAIN);
    await clock.advance(LOOK_AGAIN);
    expect([names.length, informed]).toEqual([3, ['The checks of Redis find no problem any more.']]);

    problem = found;
    begin();
    await settle();
    expect(logged()).toHaveLength(3);
  });

  it('tells a copied process of the copy, and reports it once', async () => {
    create((name) => hears(name, 2));
    begin();
    await settle();
    expect(complained).toEqual([]);
    const before = names.length;
    // The copy tries its connection, and both hear it.
    for (let i = 0; i < 2; i++) trial.hear('2-0123456789ab');
    await settle();

    expect(complained).toEqual([expect.stringContaining('Another process has the same instance name')]);
    expect(names).toHaveLength(before + 1);
  });

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
    expect(trial.receivers).toBe(next);
    await settle();
    trial.end();

    expect(trial.receivers).toBe(next);
  });

  it('does not count a late message of an earlier one', async () => {
    create(() => 1);
    for (let connection = 0; connection < 2; connection++) {
      begin();
      await settle();
    }
    const countings = names.map((name) => {
      trial.hear(name);
      return trial.receivers;
    });

    expect(countings).toEqual(['untried', 'counted']);
  });
});
