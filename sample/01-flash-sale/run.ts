import { once } from 'node:events';
import { join } from 'node:path';
import { BankBooks } from '../04-fenced-writes/demo/bank-books.js';
import { Backends } from '../support/backends.js';
import { Database } from '../support/database/database.js';
import { Instances } from '../support/instances.js';
import { runSample } from '../support/run-sample.js';
import { createTables } from './database/tables.js';
import { COMMAND_LINE, type RunOptions } from './demo/command-line.js';
import { FlashSale } from './demo/flash-sale.js';
import { Ledger } from './demo/ledger.js';
import { invitation, table } from './demo/report.js';

const INSTANCES = 3;
/** What a reader may buy by hand: few, to see it sell out. */
const PRODUCTS = ['boot', 'laces'];
const LEFT = 3;

/** Sells twice, without the lock and with it. Resolves to whether the locked sale sold exactly its stock. */
async function run(
  { exit, json, stock, buyers, payment }: RunOptions,
  signal: AbortSignal,
): Promise<boolean> {
  await using backends = await Backends.start('flash-sale');
  const { redis } = backends;
  const env = {
    ...backends.env,
    PAYMENT_TIME: String(payment),
    SALE_STOCK: String(stock),
    SALE_BUYERS: String(buyers),
  };
  await using database = new Database(env.DATABASE_URL);
  await createTables(database.knex);
  await BankBooks.open(database);
  const ledger = new Ledger(database);
  await using instances = await Instances.start({
    main: join(__dirname, 'main'),
    environments: Array.from({ length: INSTANCES }, (_, i) => ({
      ...env,
      INSTANCE_NAME: `instance ${i + 1}`,
    })),
    signal,
  });

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

void runSample(COMMAND_LINE, run);
