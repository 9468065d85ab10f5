import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedRedis } from '../embedded-redis.js';
import { Database } from './database/database.js';
import { createTables } from './database/tables.js';
import { FlashSale } from './demo/flash-sale.js';
import { Instances } from './demo/instances.js';
import { Ledger } from './demo/ledger.js';
import { invitation, table } from './demo/report.js';
import { parseRunOptions, type RunOptions } from './demo/run-options.js';
import { ScratchDirectory } from './demo/scratch-directory.js';

const INSTANCES = 3;
/** What a reader may buy by hand: few, to see it sell out. */
const PRODUCTS = ['sneaker', 'laces'];
const LEFT = 3;

/** Sells twice, without the lock and with it. Resolves to whether the locked sale sold exactly its stock. */
async function run(
  { exit, json, stock, buyers, payment }: RunOptions,
  signal: AbortSignal,
): Promise<boolean> {
  await using scratch = await ScratchDirectory.make('flash-sale-');
  await using redis = process.env.REDIS_URL ? undefined : await EmbeddedRedis.start();
  const env = {
    REDIS_URL: redis?.url ?? process.env.REDIS_URL,
    DATABASE_URL: process.env.DATABASE_URL || pathToFileURL(join(scratch.path, 'shop.sqlite')).href,
    PAYMENT_TIME: String(payment),
    SALE_STOCK: String(stock),
    SALE_BUYERS: String(buyers),
  };
  await using database = new Database(env.DATABASE_URL);
  await createTables(database.knex);
  const ledger = new Ledger(database);
  await using instances = await Instances.start(INSTANCES, env);

  const { urls } = instances;
  const sale = new FlashSale(ledger, { urls, stock, buyers, signal });
  const unlocked = await sale.run('unlocked');
  const locked = await sale.run('locked');
  for (const sku of PRODUCTS) await ledger.restock(sku, LEFT);

  if (json) {
    console.log(JSON.stringify({ stock, buyers, urls, redis: redis?.url, unlocked, locked }));
  } else {
    console.log(`${buyers} buyers over ${INSTANCES} instances, ${stock} pieces in stock:`);
    console.log(table([unlocked, locked]));
    if (!exit) console.log(invitation({ urls, products: PRODUCTS, left: LEFT, redis }));
  }
  if (!exit && !signal.aborted) await once(signal, 'abort');
  return locked.sold === stock;
}

async function main(): Promise<number> {
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => interruption.abort());
  try {
    return (await run(parseRunOptions(process.argv.slice(2)), interruption.signal)) ? 0 : 1;
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    console.error(error);
    return 1;
  }
}

void main().then((code) => (process.exitCode = code));
