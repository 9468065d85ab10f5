import { inspect } from 'node:util';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import { isLockError } from '../../lib/errors/lock.error.js';
import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { ACQUIRED, EdgeScene, type Outcome, ROUND_TRIP, START } from './edge-scene.js';

// All of it is work: how long it takes is up to the machine.
jest.setTimeout(120_000);

/** A wait that is long enough for several round trips. */
const WAIT = 6 * ROUND_TRIP;
const LONG = 1_000;
const REASON = new Error('The caller gave up.');

/** A call, and what keeps it waiting. */
interface Kind {
  readonly keys: string | string[];
  readonly options: LockOptions;
  /** Holds that keep it out, by name. */
  readonly holds: readonly (readonly [name: string, options: LockOptions])[];
}

const SHARED: LockOptions = { mode: 'shared' };
const PERMIT: LockOptions = { mode: 'shared', limit: 2 };

const KINDS: Readonly<Record<string, Kind>> = {
  'an exclusive lock': { keys: 'n', options: {}, holds: [['n', {}]] },
  'a shared lock': { keys: 'n', options: SHARED, holds: [['n', {}]] },
  'a lock that readers hold': {
    keys: 'n',
    options: {},
    holds: [
      ['n', SHARED],
      ['n', SHARED],
    ],
  },
  'a permit': {
    keys: 'n',
    options: PERMIT,
    holds: [
      ['n', PERMIT],
      ['n', PERMIT],
    ],
  },
  'several names, the first of them held': { keys: ['m', 'n'], options: {}, holds: [['m', {}]] },
  'several names, the last of them held': { keys: ['m', 'n'], options: {}, holds: [['n', {}]] },
  'several names, all held': {
    keys: ['m', 'n'],
    options: {},
    holds: [
      ['m', {}],
      ['n', {}],
    ],
  },
  'several shared names': { keys: ['m', 'n'], options: SHARED, holds: [['m', {}]] },
};

const kinds = Object.entries(KINDS);
/** Where the holders are. */
const PLACES = ['here', 'there'] as const;
const cases = kinds.flatMap(([what, kind]) => PLACES.map((place) => [what, place, kind] as const));

/** Steps of half a millisecond over two round trips around an edge. */
function around(edge: number): number[] {
  const steps = Array.from({ length: 8 * ROUND_TRIP + 1 }, (_, i) => edge + i / 2 - 2 * ROUND_TRIP);
  return steps.filter((each) => each > 0);
}

function nameOf(outcome: Outcome | undefined): string {
  if (!outcome) return 'nothing in time';
  if (outcome.lock) return outcome.lock.held ? 'granted' : 'granted, and lost';
  if (outcome.error === REASON) return 'the reason';
  if (outcome.error === undefined) return 'extended';
  return isLockError(outcome.error) ? outcome.error.code : inspect(outcome.error);
}

interface Rule {
  /** What has to come out at one step at least. */
  readonly seen: readonly string[];
  /** What may come out at a step; left out: what has to be seen. */
  readonly allowed?: (step: number, outcome: Outcome | undefined) => readonly string[];
}

/** Runs all steps, and lists those at which something came out that is not allowed there. */
async function expectAt(
  steps: readonly number[],
  run: (step: number) => Promise<Outcome | undefined>,
  { seen, allowed = () => seen }: Rule,
): Promise<void> {
  const surprises: string[] = [];
  const names = new Set<string>();
  for (const step of steps) {
    const outcome = await run(step);
    const name = nameOf(outcome);
    names.add(name);
    if (!allowed(step, outcome).includes(name))
      surprises.push(`${step} ms: ${name} after ${outcome?.after} ms`);
  }
  expect(surprises).toEqual([]);
  expect([...names]).toEqual(expect.arrayContaining([...seen]));
}

/** A scene in which others hold what keeps a call waiting; they release `release` ms after its start. */
function occupied(
  place: (typeof PLACES)[number],
  kind: Kind,
  { release, silence, ttl }: { release?: number; silence?: { after: number; lasts: number }; ttl?: number },
): EdgeScene {
  const scene = new EdgeScene(silence);
  for (const [name, options] of kind.holds) {
    const lease = ttl === undefined ? {} : { ttl, renew: false };
    scene.hold(scene[place], name, { ...options, ...lease }, (lock) => {
      if (release !== undefined) scene.at(release, () => void lock.release());
    });
  }
  return scene;
}

function acquire(locks: LockService, kind: Kind, options: LockOptions): Promise<Lock> {
  return locks.acquire(kind.keys, { ...kind.options, ...options });
}

describe('The error of a call at a boundary of time', () => {
  describe.each(cases)('for %s (by callers %s)', (_, place, kind) => {
    it('is a timeout if the wait ends as the lock becomes free', async () => {
      const run = (release: number): Promise<Outcome | undefined> => {
        const scene = occupied(place, kind, { release });
        return scene.outcomeOf(() => acquire(scene.here, kind, { wait: WAIT }), WAIT);
      };
      await expectAt(around(WAIT), run, { seen: ['granted', 'LOCK_TIMEOUT'] });
    });

    it('is a timeout if a lease ends as the wait does', async () => {
      const run = (wait: number): Promise<Outcome | undefined> => {
        const scene = occupied(place, kind, { ttl: START + WAIT - ACQUIRED });
        return scene.outcomeOf(() => acquire(scene.here, kind, { wait }), wait);
      };
      // A waiter asks again a little after the end.
      await expectAt(around(WAIT + ROUND_TRIP), run, { seen: ['granted', 'LOCK_TIMEOUT'] });
    });

    it('is a timeout once a reply can have come, and an outage before', async () => {
      const run = (wait: number): Promise<Outcome | undefined> => {
        const scene = occupied(place, kind, {});
        return scene.outcomeOf(() => acquire(scene.here, kind, { wait }), wait);
      };
      const allowed = (wait: number): string[] => [
        'LOCK_TIMEOUT',
        ...(wait <= ROUND_TRIP ? ['LOCK_UNAVAILABLE'] : []),
      ];
      await expectAt(around(2 * ROUND_TRIP), run, { seen: ['LOCK_TIMEOUT'], allowed });
    });

    it('is a timeout if the server falls silent after it reported a taken lock', async () => {
      const run = (after: number): Promise<Outcome | undefined> => {
        const scene = occupied(place, kind, { silence: { after, lasts: LONG } });
        return scene.outcomeOf(() => acquire(scene.here, kind, { wait: WAIT, outageTimeout: LONG }), WAIT);
      };
      const allowed = (after: number): string[] => [
        'LOCK_TIMEOUT',
        ...(after <= ROUND_TRIP ? ['LOCK_UNAVAILABLE'] : []),
      ];
      await expectAt(around(2 * ROUND_TRIP), run, { seen: ['LOCK_TIMEOUT'], allowed });
    });

    it('is an outage if the server is silent until outageTimeout ends', async () => {
      const outageTimeout = WAIT;
      const run = (lasts: number): Promise<Outcome | undefined> => {
        const scene = occupied(place, kind, { release: LONG, silence: { after: 0, lasts } });
        return scene.outcomeOf(() => acquire(scene.here, kind, { wait: 2 * LONG, outageTimeout }), 2 * LONG);
      };
      // A caller here waits for another one here without a request.
      const seen = place === 'here' ? ['granted'] : ['granted', 'LOCK_UNAVAILABLE'];
      const allowed = (): string[] => ['granted', 'LOCK_UNAVAILABLE'];
      await expectAt(around(outageTimeout), run, { seen, allowed });
    });

    it('is the reason of the signal whenever the caller aborts', async () => {
      const granted = WAIT + ROUND_TRIP;
      for (const edge of [2 * ROUND_TRIP, granted]) {
        const run = (abort: number): Promise<Outcome | undefined> => {
          const scene = occupied(place, kind, { release: WAIT });
          const caller = new AbortController();
          scene.at(abort, () => caller.abort(REASON));
          const { signal } = caller;
          return scene.outcomeOf(() => acquire(scene.here, kind, { wait: LONG, signal }), LONG);
        };
        await expectAt(around(edge), run, {
          seen: edge === granted ? ['granted', 'the reason'] : ['the reason'],
          allowed: (abort, outcome) =>
            outcome && outcome.after < abort ? ['granted'] : ['granted', 'the reason'],
        });
      }
    });

    it('is a timeout for an attempt, whenever the holder releases', async () => {
      const run = (release: number): Promise<Outcome | undefined> => {
        const scene = occupied(place, kind, { release: release - 2 * ROUND_TRIP });
        return scene.outcomeOf(() => acquire(scene.here, kind, { wait: 0 }), 4 * ROUND_TRIP);
      };
      await expectAt(around(2 * ROUND_TRIP), run, { seen: ['granted', 'LOCK_TIMEOUT'] });
    });

    it('is an outage for an attempt that got no reply within outageTimeout', async () => {
      const run = (outageTimeout: number): Promise<Outcome | undefined> => {
        const scene = occupied(place, kind, {});
        const options = { wait: 0, outageTimeout };
        return scene.outcomeOf(() => acquire(scene.here, kind, options), outageTimeout);
      };
      const allowed = (outageTimeout: number): string[] => [
        'LOCK_TIMEOUT',
        ...(outageTimeout <= 2 * ROUND_TRIP ? ['LOCK_UNAVAILABLE'] : []),
      ];
      await expectAt(around(2 * ROUND_TRIP), run, { seen: ['LOCK_TIMEOUT'], allowed });
    });
  });

  describe.each(kinds)('for %s that is free', (_, kind) => {
    it('is an outage only if no reply can have arrived', async () => {
      for (const limit of ['wait', 'outageTimeout']) {
        const run = (time: number): Promise<Outcome | undefined> => {
          const scene = new EdgeScene();
          return scene.outcomeOf(() => acquire(scene.here, kind, { [limit]: time }), time);
        };
        const allowed = (time: number): string[] =>
          time > ROUND_TRIP + 1 ? ['granted'] : ['granted', 'LOCK_UNAVAILABLE'];
        await expectAt(around(2 * ROUND_TRIP), run, { seen: ['granted', 'LOCK_UNAVAILABLE'], allowed });
      }
    });

    it('is a loss if its holder extends it as the lease ends', async () => {
      const ttl = WAIT;
      const run = async (moment: number): Promise<Outcome | undefined> => {
        const scene = new EdgeScene();
        let outcome: Outcome | undefined;
        const note = (error?: unknown): void => void (outcome = { after: moment, error });
        await scene.outcomeOf(() => {
          const granted = acquire(scene.here, kind, { ttl, renew: false });
          void granted.then((lock) =>
            scene.at(moment, () => void lock.extend(LONG).then(() => note(), note)),
          );
          return granted;
        }, WAIT);
        await scene.passUntil(() => outcome !== undefined, LONG);
        return outcome;
      };
      await expectAt(around(ttl), run, { seen: ['extended', 'LOCK_LOST'] });
    });
  });
});
