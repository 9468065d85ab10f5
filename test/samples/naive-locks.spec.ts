import type { Redis } from 'ioredis';
import type { Outcome } from '../../sample/06-naive-locks/demo/contest.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { otherClients } from './support/other-clients.js';
import { SampleRuns } from './support/sample-runs.js';

/** Milliseconds that seven processes may take to start on a loaded machine. */
const SLOW_START = 30_000;

/** What becomes of each lock when its holder … */
const OUTCOMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'INCR, DEL': {
    'holder killed at work': 'stuck for ever',
    'killed after its first command': 'stuck for ever',
    'work of three leases': 'one holder',
    'frozen for two leases, then released': 'stays with its holder',
  },
  'SETNX, DEL': {
    'holder killed at work': 'stuck for ever',
    'killed after its first command': 'stuck for ever',
    'work of three leases': 'one holder',
    'frozen for two leases, then released': 'stays with its holder',
  },
  'SETNX, EXPIRE, DEL': {
    'holder killed at work': 'free after the lease',
    'killed after its first command': 'stuck for ever',
    'work of three leases': 'two holders',
    'frozen for two leases, then released': "next one's lock removed",
  },
  'SET NX EX, DEL': {
    'holder killed at work': 'free after the lease',
    'killed after its first command': 'free after the lease',
    'work of three leases': 'two holders',
    'frozen for two leases, then released': "next one's lock removed",
  },
  'nest-redis-lock': {
    'holder killed at work': 'free after the lease',
    'killed after its first command': 'free after the lease',
    'work of three leases': 'one holder',
    'frozen for two leases, then released': 'stays with its holder',
  },
};

describe('sample 06, the naive locks', () => {
  const redis = duringTests(() => RedisServer.start());
  const runs = duringTests(() => SampleRuns.of('06-naive-locks'));

  describe('in one contest', () => {
    let outcomes: readonly Outcome[];
    let code: unknown;

    beforeAll(async () => {
      const ended = await runs.within<{ outcomes: readonly Outcome[] }>([1, 4], { REDIS_URL: redis.url });
      ({ outcomes } = ended.printed);
      ({ code } = ended);
    }, 4 * SLOW_START);

    function outcomesOf(lock: string): Record<string, string> {
      const rows = outcomes.filter((outcome) => outcome.lock === lock);
      return Object.fromEntries(rows.map(({ event, outcome }) => [event, outcome]));
    }

    it('have a fifth one that survives everything: ours (row 1, row 12)', () => {
      expect(outcomesOf('nest-redis-lock')).toEqual(OUTCOMES['nest-redis-lock']);
      expect(
        outcomes.filter(({ lock }) => lock === 'nest-redis-lock').every(({ survived }) => survived),
      ).toBe(true);
      expect(code).toBe(0);
    });

    it.each(['INCR, DEL', 'SETNX, DEL', 'SETNX, EXPIRE, DEL', 'SET NX EX, DEL'])(
      'fail in the expected cases, and only there: %s (row 1)',
      (lock) => {
        expect(outcomesOf(lock)).toEqual(OUTCOMES[lock]);
        expect(outcomes.some((outcome) => outcome.lock === lock && !outcome.survived)).toBe(true);
      },
    );

    it('leave nothing in the Redis that REDIS_URL names', async () => {
      const client = redis.client();
      expect(await contestKeys(client)).toEqual([]);
      client.disconnect();
    });
  });

  it(
    'leave neither a process nor a key behind on Ctrl-C',
    async () => {
      const run = runs.start([], { REDIS_URL: redis.url });
      const client = redis.client();
      await waitFor(async () => (await contestKeys(client)).length > 0, {
        timeout: SLOW_START,
        that: 'the contest to begin',
      });

      expect(await run.end('SIGINT')).toEqual([130, null]);
      expect(await contestKeys(client)).toEqual([]);
      client.disconnect();
      await waitFor(async () => (await otherClients(redis)) === 0, { that: 'all contenders to end' });
    },
    2 * SLOW_START,
  );
});

async function contestKeys(client: Redis): Promise<string[]> {
  return client.keys('*naive-locks:*');
}
