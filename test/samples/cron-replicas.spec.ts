import type { Tick } from '../../sample/03-cron-replicas/demo/observation.js';
import type { Outcome } from '../../sample/03-cron-replicas/demo/outcome.js';
import type { Run } from '../../sample/03-cron-replicas/demo/run-log.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { otherClients } from './support/other-clients.js';
import { SampleRuns } from './support/sample-runs.js';

const BEHIND = 300;
/** Milliseconds by which a run may begin late before the machine, and not the clocks, decides what happens. */
const PUNCTUAL = 200;
/** Milliseconds from the end of a run until others find its lock free. */
const RELEASE = 50;

/** What the sample prints with `--json`. */
interface Printed extends Record<Run['job'], Outcome> {
  readonly ticks: readonly Tick[];
}

describe('sample 03, the cron replicas', () => {
  const runs = duringTests(() => SampleRuns.of('03-cron-replicas'));

  describe('of which one is killed at work', () => {
    let printed: Printed;
    let code: unknown;

    beforeAll(async () => {
      // On a busy machine, it takes several runs until one is punctual.
      do {
        const run = runs.start(['--json', '--behind', String(BEHIND), '--ticks', '2']);
        printed = await run.json();
        [code] = await run.ended;
      } while (!punctual(printed));
    }, 300_000);

    const runsOf = (job: Run['job'], { runs: all }: Tick): Run[] => all.filter((run) => run.job === job);
    const counts = (job: Run['job'], ticks = printed.ticks): number[] =>
      ticks.map((tick) => runsOf(job, tick).length);
    const death = (): number => printed.ticks.findIndex(({ killed }) => killed !== undefined);
    const withoutDeath = (): Tick[] => printed.ticks.filter(({ killed }) => killed === undefined);

    it('run each tick once with lock and minHold, and continue without the dead one', () => {
      expect(counts('minHold')).toEqual(printed.ticks.map(() => 1));
      expect(printed.minHold).toEqual({ runs: printed.ticks.length, missed: 0, repeated: 0 });
      expect(printed.ticks.length - 1 - death()).toBe(2);
      expect(code).toBe(0);
    });

    it('leave the tick of the one that died half done, and do not repeat it', () => {
      const { runs: all = [], killed } = printed.ticks[death()] ?? {};
      const held = all.filter(({ job }) => job === 'minHold');
      expect(held).toMatchObject([{ instance: killed }]);
      expect(held[0]?.ended).toBeUndefined();
      const others = withoutDeath().flatMap((tick) => runsOf('minHold', tick));
      expect(others.every(({ ended }) => ended !== undefined)).toBe(true);
    });

    it('all run each tick without the lock', () => {
      const ran = printed.ticks.map(
        (tick) => new Set(runsOf('unlocked', tick).map(({ instance }) => instance)),
      );
      // The one that dies may begin the job with the lock first, and be killed before the one without.
      ran[death()]?.delete(printed.ticks[death()]?.killed ?? '');
      expect(ran.map(({ size }) => size)).toEqual(ran.map((_, index) => (index < death() ? 3 : 2)));
      expect(printed.unlocked.repeated).toBe(printed.ticks.length);
    });

    it('repeat ticks with the lock alone, because a clock is behind', () => {
      expect(Math.min(...counts('locked', withoutDeath()))).toBeGreaterThan(1);
    });

    it('have clocks that are 300 ms apart', () => {
      const late = printed.ticks.flatMap((tick) => runsOf('unlocked', tick)).filter(({ at }) => at >= BEHIND);
      expect(new Set(late.map(({ instance }) => instance))).toEqual(new Set(['C']));
      expect(late).toHaveLength(printed.ticks.length);
    });

    it('leave no file behind', async () => {
      expect(await runs.files()).toEqual([]);
    });
  });

  it('leaves no process running when it is killed', async () => {
    await using redis = await RedisServer.start();
    const client = redis.client();
    const run = runs.start([], { REDIS_URL: redis.url, REDIS_SERVER: 'there-is-none' });
    await waitFor(() => client.exists('lock:{cron-replicas:min-hold}'), {
      timeout: 45_000,
      that: 'a job to run',
    });
    client.disconnect();

    await run.end('SIGKILL');

    await waitFor(async () => (await otherClients(redis)) === 0, { that: 'the instances to be gone' });
  });
});

/**
 * Whether all runs began and ended in time: on an overloaded machine, a late one holds the lock into the next tick, or
 * when the clock that is behind comes, and one may end before its process is killed. Of the tick before the first one,
 * nothing else is known.
 */
function punctual({ ticks }: Printed): boolean {
  if (!ticks[0]?.runs.some(({ job }) => job === 'minHold')) return false;
  return ticks.every(({ runs, killed }) => {
    const begin = runs.every(({ at, instance }) => at - (instance === 'C' ? BEHIND : 0) < PUNCTUAL);
    if (killed !== undefined)
      return begin && runs.some(({ job, ended }) => job === 'minHold' && ended === undefined);
    const [first] = runs.filter(({ job }) => job === 'locked');
    const last = runs.find(({ job, instance }) => job === 'unlocked' && instance === 'C');
    return begin && (first?.ended ?? 0) + RELEASE < (last?.at ?? Infinity);
  });
}
