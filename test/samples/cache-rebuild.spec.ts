import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RebuildResult } from '../../sample/02-cache-rebuild/demo/cache-rebuild.js';
import { SalesRecords } from '../../sample/02-cache-rebuild/demo/sales-records.js';
import { Database } from '../../sample/support/database/database.js';
import { ScratchDirectory } from '../../sample/support/scratch-directory.js';
import { duringTests } from '../support/during-tests.js';
import { end } from '../support/lifeline.js';
import { RedisServer } from '../support/redis-server.js';
import { spawnTypeScript } from '../support/typescript-process.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { otherClients } from './support/other-clients.js';
import { SampleRuns } from './support/sample-runs.js';

const SAMPLE = join(__dirname, '..', '..', 'sample', '02-cache-rebuild');
const READERS = 200;
const INSTANCES = 2;
/** Milliseconds of a query: more than a loaded machine needs to let all readers in, before the first has its list. */
const QUERY_TIME = 2_000;

/** What the sample prints with `--json`. */
type Printed = Record<'unlocked' | 'wrapped' | 'locked' | 'both' | 'once', RebuildResult>;

/** Milliseconds that a reader without an answer from Redis may have to wait: outageTimeout plus a little. */
const OUTAGE = 2_000 + 1_000;

describe('sample 02, the cache rebuild', () => {
  let instance: ChildProcess | undefined;

  afterAll(async () => {
    if (instance) await end(instance, 'SIGTERM');
  });
  const runs = duringTests(() => SampleRuns.of('02-cache-rebuild'));

  describe('of 200 readers over two instances', () => {
    let printed: Printed;
    let code: unknown;

    beforeAll(async () => {
      const run = runs.start(['--json', '--readers', String(READERS), '--instances', String(INSTANCES)], {
        QUERY_TIME: String(QUERY_TIME),
      });
      printed = await run.json();
      [code] = await run.ended;
    }, 120_000);

    it('runs one query for all simultaneous readers after the expiry, with lock and second check (row 10)', () => {
      expect(printed.locked.expired).toMatchObject({ queries: 1, failed: 0 });
      expect(printed.both.expired).toMatchObject({ queries: 1, failed: 0 });
      expect(code).toBe(0);
    });

    it('runs one query for all of them with @Once, and the others acquire no lock', () => {
      expect(printed.once.expired).toMatchObject({ queries: 1, failed: 0 });
      // Another instance may be granted the lock before it has read the result.
      expect(printed.once.expired.grants).toBeGreaterThanOrEqual(1);
      expect(printed.once.expired.grants).toBeLessThanOrEqual(INSTANCES);
      expect(printed.locked.expired.grants).toBeGreaterThan(INSTANCES);
    });

    it('runs a query for each of them without the lock (row 10)', () => {
      // On an overloaded machine some come so late that they find what the first ones have stored.
      const least = atOnce(printed) ? READERS : READERS / 2;
      expect(printed.unlocked.expired.queries).toBeGreaterThanOrEqual(least);
      expect(printed.unlocked.expired.queries).toBeLessThanOrEqual(READERS);
      expect(printed.unlocked.expired.failed).toBe(0);
    });

    it('runs a query in each instance with the cache’s own means', () => {
      expect(printed.wrapped.expired).toMatchObject({ queries: INSTANCES, failed: 0 });
    });

    it('answers the last reader sooner than without the lock', () => {
      expect(printed.once.expired.last).toBeLessThan(printed.unlocked.expired.last);
    });

    it('runs no query while the cache is full', () => {
      const { unlocked, wrapped, locked, both } = printed;
      for (const { cached } of [unlocked, wrapped, locked, both, printed.once])
        expect(cached).toMatchObject({ queries: 0, grants: 0, failed: 0 });
    });
  });

  it('answers 503 in time and runs no query while Redis is down, and lists again afterwards', async () => {
    await using redis = await RedisServer.start();
    await using scratch = await ScratchDirectory.make('sample-cache-rebuild-');
    const DATABASE_URL = pathToFileURL(join(scratch.path, 'sales.sqlite')).href;
    await using database = new Database(DATABASE_URL);
    const records = await SalesRecords.open(database);
    await records.fill('sneakers');
    instance = spawnTypeScript(join(SAMPLE, 'main.ts'), [], {
      env: { REDIS_URL: redis.url, DATABASE_URL, PORT: '0' },
      channel: 'ipc',
    });
    const [url] = await once(instance, 'message');
    expect(await read(url)).toBe(200);

    await redis.kill();
    const took = await unstalled(async () => expect(await read(url)).toBe(503));
    expect(took).toBeLessThan(OUTAGE);
    expect(await records.runs('sneakers')).toBe(1);

    await redis.start();
    await waitFor(async () => (await read(url)) === 200, {
      timeout: 10_000,
      that: 'a list to be served again',
    });
  });

  it('ends everything it started on Ctrl-C', async () => {
    await using redis = await RedisServer.start();
    const client = redis.client();
    const run = runs.start(['--instances', '1'], { REDIS_URL: redis.url, REDIS_SERVER: 'there-is-none' });
    await waitFor(() => client.exists('cache-rebuild:bestsellers:sneakers'), {
      timeout: 45_000,
      that: 'a reader to be served',
    });
    client.disconnect();

    expect(await run.end('SIGINT')).toEqual([130, null]);
    await waitFor(async () => (await otherClients(redis)) === 0, { that: 'the instances to be gone' });
    expect(await runs.files()).toEqual([]);
  });
});

/** Whether the instances let all readers in within the time of the query, as seen while the cache was full. */
function atOnce({ unlocked }: Printed): boolean {
  return unlocked.cached.last < QUERY_TIME;
}

async function read(url: string): Promise<number> {
  const response = await fetch(`${url}/bestsellers/sneakers`, { signal: AbortSignal.timeout(10_000) });
  await response.text();
  return response.status;
}
