import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SaleResult } from '../../sample/01-flash-sale/demo/flash-sale.js';
import { end } from '../support/lifeline.js';
import { RedisServer } from '../support/redis-server.js';
import { spawnTypeScript } from '../support/typescript-process.js';
import { waitFor } from '../support/wait-for.js';
import { printedJson } from './support/printed-json.js';
import { listens } from './support/remains.js';

const RUN = join(__dirname, '..', '..', 'sample', '01-flash-sale', 'run.ts');
const STOCK = 20;
const BUYERS = 120;

/** What the sample prints with `--json`. */
interface Printed {
  readonly urls: readonly string[];
  /** The Redis that the sample started itself. */
  readonly redis?: string;
  readonly unlocked: SaleResult;
  readonly locked: SaleResult;
}

/** Milliseconds that an order without an answer from Redis may take: outageTimeout plus a little. */
const OUTAGE = 1_000 + 1_000;

describe('sample 01, the flash sale (row 11)', () => {
  let directory: string;
  let running: ChildProcess[];

  beforeEach(async () => {
    running = [];
    directory = await mkdtemp(join(tmpdir(), 'sample-flash-sale-'));
  });

  afterEach(async () => {
    await Promise.all(running.map((sample) => end(sample, 'SIGTERM')));
    await rm(directory, { recursive: true, force: true });
  });

  /** `npm start` without the preparations. */
  function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const sample = spawnTypeScript(RUN, ['--json', ...args], {
      env: { REDIS_URL: undefined, DATABASE_URL: undefined, TMPDIR: directory, ...env },
    });
    running.push(sample);
    return sample;
  }

  async function sell(options: { stock: number; buyers: number }, env?: NodeJS.ProcessEnv) {
    const sample = start(['--exit', '--stock', `${options.stock}`, '--buyers', `${options.buyers}`], env);
    const exited = once(sample, 'exit');
    const sale = await printed(sample);
    const [code] = await exited;
    return { ...sale, code };
  }

  it('oversells without the lock and sells exactly the stock with it, on a Redis of its own', async () => {
    expectOversellOnlyWithoutLock(await sell({ stock: STOCK, buyers: BUYERS }));
    expect(await readdir(directory)).toEqual([]);
  });

  it('oversells without the lock and sells exactly the stock with it, on the Redis that REDIS_URL names', async () => {
    await using redis = await RedisServer.start();
    await redis.resetCommandCounts();

    const env = { REDIS_URL: redis.url, REDIS_SERVER: 'there-is-none' };
    expectOversellOnlyWithoutLock(await sell({ stock: STOCK, buyers: BUYERS }, env));

    const { eval: eval_ = 0, evalsha = 0 } = await redis.commandCounts();
    expect(eval_ + evalsha).toBeGreaterThan(0);
  });

  const onPostgres = process.env.DATABASE_URL?.startsWith('postgres') ? it : it.skip;
  onPostgres('sells exactly the stock on PostgreSQL (needs one that DATABASE_URL names)', async () => {
    const env = { DATABASE_URL: process.env.DATABASE_URL };
    expectOversellOnlyWithoutLock(await sell({ stock: STOCK, buyers: BUYERS }, env));
  });

  it('exits with code 1 when the locked sale did not sell its stock', async () => {
    const { code, locked } = await sell({ stock: 10, buyers: 6 });
    expect(locked.sold).toBe(6);
    expect(code).toBe(1);
  });

  it('answers 503 in time while Redis is down, stays up, and takes orders again afterwards', async () => {
    await using redis = await RedisServer.start();
    const sample = start(['--stock', '1', '--buyers', '3'], { REDIS_URL: redis.url });
    const [url = ''] = (await printed(sample)).urls;
    expect(await order(url, { sku: 'sneaker', quantity: 1 })).toBe(201);

    await redis.kill();
    const before = performance.now();
    expect(await order(url, { sku: 'sneaker', quantity: 1 })).toBe(503);
    expect(performance.now() - before).toBeLessThan(OUTAGE);
    expect(await order(url, { sku: 'no-such-thing', quantity: 1 }, '/unlocked/orders')).toBe(404);

    await redis.start();
    await waitFor(async () => (await order(url, { sku: 'sneaker', quantity: 1 })) === 201, {
      timeout: 10_000,
      that: 'an order to be taken again',
    });
  });

  it('refuses bad bodies with 400, unknown products with 404, and what is sold out with 409, carts as a whole', async () => {
    const [url = ''] = (await printed(start(['--stock', '1', '--buyers', '3']))).urls;
    expect(await order(url, { sku: '', quantity: 1 })).toBe(400);
    expect(await order(url, { sku: 'sneaker', quantity: 1.5 })).toBe(400);
    expect(await order(url, { quantity: 1 })).toBe(400);
    expect(await order(url, { sku: 'no-such-thing', quantity: 1 })).toBe(404);
    expect(await order(url, { sku: 'sneaker', quantity: 10 })).toBe(409);

    const cart = (...items: object[]) => order(url, { items }, '/carts');
    expect(await cart()).toBe(400);
    expect(await order(url, {}, '/carts')).toBe(400);
    expect(await cart({ sku: 'sneaker' })).toBe(400);
    expect(await cart({ sku: 'laces', quantity: 1 }, { sku: 'laces', quantity: 2 })).toBe(400);
    expect(await cart({ sku: 'sneaker', quantity: 1 }, { sku: 'no-such-thing', quantity: 1 })).toBe(404);
    expect(await cart({ sku: 'sneaker', quantity: 1 }, { sku: 'laces', quantity: 4 })).toBe(409);
    // Nothing of the refused carts was sold.
    expect(await cart({ sku: 'laces', quantity: 3 }, { sku: 'sneaker', quantity: 3 })).toBe(201);
  });

  it('sells carts with the same products in opposite order on all instances, without deadlock or oversell', async () => {
    const { urls } = await printed(start(['--stock', '1', '--buyers', '3']));
    const oneOfEach = [
      { sku: 'sneaker', quantity: 1 },
      { sku: 'laces', quantity: 1 },
    ];
    const carts = Array.from({ length: 8 }, () => [oneOfEach, oneOfEach.toReversed()]).flat();
    const sold = await Promise.all(
      urls.flatMap((url) => carts.map((items) => order(url, { items }, '/carts'))),
    );
    // Three pieces of each are in stock. A deadlock would end as 423 after the wait.
    expect(sold.filter((status) => status === 201)).toHaveLength(3);
    expect(sold.filter((status) => status === 409)).toHaveLength(urls.length * carts.length - 3);
    for (const item of oneOfEach) expect(await order(String(urls[0]), item)).toBe(409);
  });

  it('ends everything it started on Ctrl-C', async () => {
    const sample = start(['--stock', '1', '--buyers', '3']);
    const servers = serversOf(await printed(sample));
    const exited = once(sample, 'exit');

    sample.kill('SIGINT');

    expect(await exited).toEqual([0, null]);
    for (const server of servers) expect(await listens(server)).toBe(false);
    expect(await readdir(directory)).toEqual([]);
  });

  it('leaves no instance and no Redis running when it is killed', async () => {
    const sample = start(['--stock', '1', '--buyers', '3']);
    const servers = serversOf(await printed(sample));

    await end(sample, 'SIGKILL');

    for (const server of servers) {
      await waitFor(async () => !(await listens(server)), { that: `${server} to end` });
    }
    await waitFor(async () => !(await readdir(directory)).some((name) => name.startsWith('embedded-redis')), {
      that: "Redis's files to be removed",
    });
  });
});

async function printed(sample: ChildProcess): Promise<Printed> {
  return printedJson<Printed>(sample);
}

/** The three instances and the Redis that the sample started. */
function serversOf({ urls, redis }: Printed): string[] {
  if (redis === undefined) throw new Error('The sample started no Redis');
  return [...urls, redis];
}

function expectOversellOnlyWithoutLock({ code, unlocked, locked }: Printed & { code: unknown }): void {
  expect(unlocked.sold).toBeGreaterThan(STOCK);
  expect(unlocked.oversold).toBe(unlocked.sold - STOCK);
  expect(unlocked.failed).toBe(0);
  expect(locked).toMatchObject({ sold: STOCK, oversold: 0, soldOut: BUYERS - STOCK, failed: 0 });
  expect(code).toBe(0);
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
