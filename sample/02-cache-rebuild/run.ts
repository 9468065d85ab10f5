import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Backends } from '../support/backends.js';
import { Database } from '../support/database/database.js';
import { Instances } from '../support/instances.js';
import { runSample } from '../support/run-sample.js';
import { CacheRebuild } from './demo/cache-rebuild.js';
import { COMMAND_LINE, type RunOptions } from './demo/command-line.js';
import { table } from './demo/report.js';
import { SalesRecords } from './demo/sales-records.js';

/** Sends readers to each route. Resolves to whether one query was enough wherever there is a lock. */
async function run({ json, readers, instances: count }: RunOptions, signal: AbortSignal): Promise<boolean> {
  await using backends = await Backends.start('cache-rebuild');
  const { env } = backends;
  await using database = new Database(env.DATABASE_URL);
  const records = await SalesRecords.open(database);
  await using instances = await Instances.start({
    main: join(__dirname, 'main'),
    environments: Array.from({ length: count }, () => env),
    signal,
  });
  const redis = new Redis(env.REDIS_URL);
  signal.addEventListener('abort', () => redis.disconnect());
  try {
    const rebuild = new CacheRebuild({ urls: instances.urls, readers, redis, records, signal });
    const unlocked = await rebuild.run('/unlocked/bestsellers');
    const wrapped = await rebuild.run('/wrapped/bestsellers');
    const locked = await rebuild.run('/locked/bestsellers');
    const both = await rebuild.run('/both/bestsellers');
    const once = await rebuild.run('/bestsellers');

    if (json) {
      console.log(JSON.stringify({ readers, unlocked, wrapped, locked, both, once }));
    } else {
      console.log(`${readers} readers at once over ${count} instances, one list that expires:`);
      console.log(table([unlocked, wrapped, locked, both, once]));
    }
    return [locked, both, once].every(({ expired }) => expired.queries === 1 && expired.failed === 0);
  } finally {
    redis.disconnect();
  }
}

void runSample(COMMAND_LINE, run);
