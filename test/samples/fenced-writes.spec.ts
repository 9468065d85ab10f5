import type { TakeOverResult } from '../../sample/04-fenced-writes/demo/take-over.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Stalls } from '../support/stalls.js';
import { waitFor } from '../support/wait-for.js';
import { otherClients } from './support/other-clients.js';
import { type Outcome, SampleRuns } from './support/sample-runs.js';

/** Milliseconds that the sample may take on a loaded machine, with both leases. */
const TIME_LIMIT = 120_000;
const LEASES = [800, 4_000];
/** Milliseconds that the start of the next worker's request may take. */
const NOISE = 400;
/** A worker has five seconds to shut down, and a loaded machine is late. */
const END = { timeout: 20_000 };

/** What the sample prints with `--json`. */
interface Printed {
  readonly results: readonly TakeOverResult[];
}

describe('sample 04, the fenced writes', () => {
  const runs = duringTests(() => SampleRuns.of('04-fenced-writes'));

  const takeOvers = (env?: NodeJS.ProcessEnv) => runs.within<Printed>(LEASES, env);

  describe('after a worker was frozen beyond its lease', () => {
    let results: readonly TakeOverResult[];
    let code: unknown;
    let lease: number;
    /** Milliseconds for which the machine stood still meanwhile. */
    let stalled: number;

    beforeAll(async () => {
      const stalls = new Stalls();
      ({
        printed: { results },
        code,
        lease,
      } = await takeOvers());
      stalled = await stalls.stop();
    }, TIME_LIMIT);

    it('lose an update with the lock alone', () => {
      expect(results[0]).toMatchObject({ guard: 'locked', balance: 110, lost: 50 });
    });

    it('are not sent after assertHeld has seen it', () => {
      expect(results[1]).toMatchObject({ guard: 'checked', first: 'LOCK_LOST', balance: 150, lost: 0 });
    });

    it('lose an update when it was frozen after assertHeld', () => {
      expect(results[2]).toMatchObject({
        guard: 'checked',
        frozen: 'before writing',
        balance: 110,
        lost: 50,
      });
    });

    it('are refused by the fencing token wherever it was frozen', () => {
      expect(results[3]).toMatchObject({ guard: 'fenced', frozen: 'before writing', first: 'STALE_TOKEN' });
      expect(results[3]).toMatchObject({ balance: 150, lost: 0 });
      expect(code).toBe(0);
    });

    it('leave no files behind', async () => {
      expect(await runs.files()).toEqual([]);
    });

    it('grant the lock to the next worker when the lease has expired (row 12)', () => {
      for (const { second, waited, tokens } of results) {
        expect(second).toBe('booked');
        // A token is the time of the grant in microseconds.
        const [one = 0, other = 0] = tokens;
        expect((other - one) / 1_000).toBeGreaterThanOrEqual(lease);
        expect(waited).toBeLessThan(lease + NOISE + stalled);
      }
    });
  });

  const onPostgres = process.env.DATABASE_URL?.startsWith('postgres') ? it : it.skip;
  onPostgres('are refused on PostgreSQL, too (needs one that DATABASE_URL names)', async () => {
    expectRefusal(await takeOvers({ DATABASE_URL: process.env.DATABASE_URL }));
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'leave no worker behind on %s, not even a frozen one',
    async (signal) => {
      await using redis = await RedisServer.start();
      const run = runs.start(['--lease', '60000'], { REDIS_URL: redis.url });
      await run.line('is frozen after reading');

      expect(await run.end(signal)).toEqual(signal === 'SIGINT' ? [130, null] : [null, signal]);
      await waitFor(async () => (await otherClients(redis)) === 0, { ...END, that: 'both workers to end' });
    },
  );
});

function expectRefusal({ printed: { results }, code }: Outcome<Printed>): void {
  expect(results.map(({ lost }) => lost)).toEqual([50, 0, 50, 0]);
  expect(results[3]?.first).toBe('STALE_TOKEN');
  expect(code).toBe(0);
}
