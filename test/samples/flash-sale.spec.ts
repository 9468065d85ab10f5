import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SaleResult } from '../../sample/01-flash-sale/demo/flash-sale.js';
import { Ledger } from '../../sample/01-flash-sale/demo/ledger.js';
import { Database } from '../../sample/support/database/database.js';
import { ScratchDirectory } from '../../sample/support/scratch-directory.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { listens } from './support/remains.js';
import { type SampleRun, SampleRuns } from './support/sample-runs.js';

const STOCK = 20;
const BUYERS = 120;
const PRODUCTS = ['boot', 'laces'];

/** What the sample prints with `--json`. */
interface Printed {
  readonly urls: readonly string[];
  readonly unlocked: SaleResult;
  readonly locked: SaleResult;
}

/** Milliseconds that an order without an answer from Redis may take: outageTimeout plus a little. */
const OUTAGE = 2_000 + 1_000;

describe('sample 01, the flash sale (row 11)', () => {
  const runs = duringTests(() => SampleRuns.of('01-flash-sale'));

  it('answers an unknown option with a sentence and its usage', async () => {
    const run = runs.start(['--buyer', '5']);

    await expect(run.line('{')).rejects.toThrow(/There is no option --buyer\.\n\nnpm start -- \[options\]/);
    expect(await run.ended).toEqual([2, null]);
  });

  describe('on the given Redis and database', () => {
    let scratch: ScratchDirectory;
    let database: Database;
    let redis: RedisServer;
    let run: SampleRun;
    let printed: Printed;
    let url: string;

    beforeAll(async () => {
      scratch = await ScratchDirectory.make('sample-flash-sale-');
      const DATABASE_URL = pathToFileURL(join(scratch.path, 'shop.sqlite')).href;
      database = new Database(DATABASE_URL);
      redis = await RedisServer.start();
      await redis.resetCommandCounts();
      const env = { DATABASE_URL, REDIS_URL: redis.url, REDIS_SERVER: 'there-is-none' };
      run = runs.start(['--json', '--stock', `${STOCK}`, '--buyers', `${BUYERS}`], env);
      printed = await run.json();
      [url = ''] = printed.urls;
    }, 120_000);

    beforeEach(async () => {
      const ledger = new Ledger(database);
      for (const sku of PRODUCTS) await ledger.restock(sku, 3);
    });

    afterAll(async () => {
      await run.end('SIGTERM');
      await redis.stop();
      await database[Symbol.asyncDispose]();
      await scratch[Symbol.asyncDispose]();
    });

    it('oversells without the lock and sells exactly the stock with it', async () => {
      expectOversellOnlyWithoutLock(printed);
      const { eval: eval_ = 0, evalsha = 0 } = await redis.commandCounts();
      expect(eval_ + evalsha).toBeGreaterThan(0);
    });

    it('rejects bad bodies with 400, unknown products with 404, and sold-out ones with 409, carts as a whole', async () => {
      expect(await order(url, { sku: '', quantity: 1 })).toBe(400);
      expect(await order(url, { sku: 'boot', quantity: 1.5 })).toBe(400);
      expect(await order(url, { quantity: 1 })).toBe(400);
      expect(await order(url, { sku: 'no-such-thing', quantity: 1 })).toBe(404);
      expect(await order(url, { sku: 'boot', quantity: 10 })).toBe(409);

      const cart = (...items: object[]) => order(url, { items }, '/carts');
      expect(await cart()).toBe(400);
      expect(await order(url, {}, '/carts')).toBe(400);
      expect(await cart({ sku: 'boot' })).toBe(400);
      expect(await cart({ sku: 'laces', quantity: 1 }, { sku: 'laces', quantity: 2 })).toBe(400);
      expect(await cart({ sku: 'boot', quantity: 1 }, { sku: 'no-such-thing', quantity: 1 })).toBe(404);
      expect(await cart({ sku: 'boot', quantity: 1 }, { sku: 'laces', quantity: 4 })).toBe(409);
      // Nothing of the refused carts was sold.
      expect(await cart({ sku: 'laces', quantity: 3 }, { sku: 'boot', quantity: 3 })).toBe(201);
    });

    it('sells carts with the same products in opposite order on all instances, without deadlock or oversell', async () => {
      const { urls } = printed;
      const oneOfEach = [
        { sku: 'boot', quantity: 1 },
        { sku: 'laces', quantity: 1 },
      ];
      const carts = Array.from({ length: 8 }, () => [oneOfEach, oneOfEach.toReversed()]).flat();
      const sold = await Promise.all(
        urls.flatMap((each) => carts.map((items) => order(each, { items }, '/carts'))),
      );
      // Three pieces of each are in stock. A deadlock would end as 423 after the wait.
      expect(sold.filter((status) => status === 201)).toHaveLength(3);
      expect(sold.filter((status) => status === 409)).toHaveLength(urls.length * carts.length - 3);
      for (const item of oneOfEach) expect(await order(String(urls[0]), item)).toBe(409);
    });

    it('answers 503 in time while Redis is down, stays up, and takes orders again afterwards', async () => {
      expect(await order(url, { sku: 'boot', quantity: 1 })).toBe(201);

      await redis.kill();
      const took = await unstalled(async () =>
        expect(await order(url, { sku: 'boot', quantity: 1 })).toBe(503),
      );
      expect(took).toBeLessThan(OUTAGE);
      expect(await order(url, { sku: 'no-such-thing', quantity: 1 }, '/unlocked/orders')).toBe(404);

      await redis.start();
      await waitFor(async () => (await order(url, { sku: 'boot', quantity: 1 })) === 201, {
        timeout: 10_000,
        that: 'an order to be taken again',
      });
    });

    it('ends everything it started on Ctrl-C', async () => {
      expect(await run.end('SIGINT')).toEqual([0, null]);
      for (const server of printed.urls) expect(await listens(server)).toBe(false);
    });
  });

  const onPostgres = process.env.DATABASE_URL?.startsWith('postgres') ? it : it.skip;
  onPostgres('sells exactly the stock on PostgreSQL (needs one that DATABASE_URL names)', async () => {
    const args = ['--json', '--exit', '--stock', `${STOCK}`, '--buyers', `${BUYERS}`];
    const run = runs.start(args, { DATABASE_URL: process.env.DATABASE_URL });
    expectOversellOnlyWithoutLock(await run.json());
  });
});

function expectOversellOnlyWithoutLock({ unlocked, locked }: Printed): void {
  expect(unlocked.sold).toBeGreaterThan(STOCK);
  expect(unlocked.oversold).toBe(unlocked.sold - STOCK);
  expect(unlocked.failed).toBe(0);
  expect(locked).toMatchObject({ sold: STOCK, oversold: 0, soldOut: BUYERS - STOCK, failed: 0 });
}

async function order(url: string, body: object, path = '/orders'): Promise<number> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  await response.text();
  return response.status;
}
