import type { TakeOverResult } from '../../sample/04-fenced-writes/demo/take-over.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Stalls } from '../support/stalls.js';
import { waitFor } from '../support/wait-for.js';
import { otherClients } from './support/other-clients.js';
import { SampleRuns } from './support/sample-runs.js';

/** Milliseconds that the whole sample may take on a loaded machine. */
const TIME_LIMIT = 60_000;
const LEASE = 800;
/** Milliseconds that the start of the next worker's request may take. */
const NOISE = 400;
/** A worker has five seconds to shut down, and a loaded machine is late. */
const END = { timeout: 20_000 };

/** What the sample prints with `--json`, and its exit code. */
interface Ended {
  readonly results: readonly TakeOverResult[];
  readonly code: unknown;
}

describe('sample 04, the fenced writes', () => {
  const runs = duringTests(() => SampleRuns.of('04-fenced-writes'));

  async function takeOvers(env?: NodeJS.ProcessEnv): Promise<Ended> {
    const run = runs.start(['--json', '--lease', `${LEASE}`], env);
    const { results } = await run.json<Pick<Ended, 'results'>>();
    const [code] = await run.ended;
    return { results, code };
  }

  describe('after a worker was frozen beyond its lease', () => {
    let results: readonly TakeOverResult[];
    let code: unknown;
    /** Milliseconds for which the machine stood still meanwhile. */
    let stalled: number;

    beforeAll(async () => {
      const stalls = new Stalls();
      ({ results, code } = await takeOvers());
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
      for (const { second, waited } of results) {
        expect(second).toBe('booked');
        expect(waited).toBeGreaterThan(LEASE / 2);
        expect(waited).toBeLessThan(LEASE + NOISE + stalled);
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

function expectRefusal({ results, code }: Ended): void {
  expect(results.map(({ lost }) => lost)).toEqual([50, 0, 50, 0]);
  expect(results[3]?.first).toBe('STALE_TOKEN');
  expect(code).toBe(0);
}
