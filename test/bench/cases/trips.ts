import { join } from 'node:path';
import { startWorker } from '../../support/worker.js';
import type { RedisAddress } from '../contestant.js';
import type { TripCalls } from '../load/trip.process.js';
import { handoffsOf } from '../statistics/handoff.js';
import { percentilesOf, type Percentiles } from '../statistics/spread.js';

const TIMES = 300;

/** Milliseconds from one process to a message in another. */
interface Trips {
  /** By PUBLISH: less no hand-off can take. */
  readonly publish: Percentiles;
  /** By the least script that hands a lock on. */
  readonly handOn: Percentiles;
  /** The same from the end of one turn to the begin of the next, where two processes take turns and ask again at once. */
  readonly inTurn: Percentiles;
}

export async function measureTrips(redis: RedisAddress, pause: number): Promise<Trips> {
  const file = join(__dirname, '../load/trip.process.ts');
  await using listener = await startWorker<TripCalls>(file);
  await using sender = await startWorker<TripCalls>(file);
  await listener.call('listen', redis);
  const measure = async (call: 'publish' | 'handOn'): Promise<Percentiles> => {
    await sender.call(call, redis, TIMES / 4, pause);
    // The first ones ran while the code was cold.
    await listener.call('trips');
    await sender.call(call, redis, TIMES, pause);
    const trips = percentilesOf(Float64Array.from(await listener.call('trips')));
    if (!trips) throw new Error('No published message arrived');
    return trips;
  };
  const [publish, handOn] = [await measure('publish'), await measure('handOn')];
  const takeTurns = (times: number): Promise<Float64Array[]> =>
    Promise.all([listener, sender].map((each, i) => each.call('takeTurns', redis, String(i), times, pause)));
  await takeTurns(TIMES / 4);
  const inTurn = handoffsOf(await takeTurns(TIMES));
  if (!inTurn) throw new Error('No turn followed another');
  return { publish, handOn, inTurn };
}
