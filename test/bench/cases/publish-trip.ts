import { join } from 'node:path';
import { startWorker } from '../../support/worker.js';
import type { RedisAddress } from '../contestant.js';
import type { TripCalls } from '../load/trip.process.js';
import { percentilesOf, type Percentiles } from '../statistics/spread.js';

const TIMES = 300;

/** Milliseconds from PUBLISH in one process to its message in another, which is the least a hand-off can take. */
export async function measurePublishTrip(redis: RedisAddress, pause: number): Promise<Percentiles> {
  const file = join(__dirname, '../load/trip.process.ts');
  await using listener = await startWorker<TripCalls>(file);
  await using publisher = await startWorker<TripCalls>(file);
  await listener.call('listen', redis);
  await publisher.call('publish', redis, TIMES / 4, pause);
  // The first ones ran while the code was cold.
  await listener.call('trips');
  await publisher.call('publish', redis, TIMES, pause);
  const trips = percentilesOf(Float64Array.from(await listener.call('trips')));
  if (!trips) throw new Error('No published message arrived');
  return trips;
}
