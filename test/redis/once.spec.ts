import { setTimeout as sleep } from 'node:timers/promises';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { unstalled } from '../support/unstalled.js';
import { Instance } from './instance.js';

const INSTANCES = 4;
const CALLERS = 25;
/** Milliseconds of the work. */
const WORK = 20;
/** Milliseconds that a loaded machine may be late. */
const NOISE = 800;
const KEEP = { keep: '1m' } as const;

describe('Callers of once() in several instances', () => {
  const server = duringTests(() => RedisServer.start());
  const instances = Array.from({ length: INSTANCES }, () =>
    duringTests(() => new Instance({ connection: server.url }).warmUp()),
  );

  beforeAll(async () => {
    // Loads the scripts of results.
    for (const [i, { locks }] of instances.entries()) await locks.once(`warm-up:${i}`, KEEP, () => i);
  });

  it('share one run by at most 0.3 requests a caller, soon after its end', async () => {
    let runs = 0;
    const work = async (): Promise<number> => {
      await sleep(WORK);
      return ++runs;
    };
    await server.resetCommandCounts();
    const calls = async (): Promise<void> => {
      results = await Promise.all(
        instances.flatMap(({ locks }) =>
          Array.from({ length: CALLERS }, () => locks.once('burst', KEEP, work)),
        ),
      );
    };
    let results: number[] = [];
    const took = await unstalled(calls, () => server.ping());
    const { evalsha = 0 } = await server.commandCounts();

    expect(results).toEqual(Array.from({ length: INSTANCES * CALLERS }, () => 1));
    expect(runs).toBe(1);
    expect(evalsha).toBeGreaterThan(0);
    expect(evalsha).toBeLessThanOrEqual(0.3 * results.length);
    expect(took).toBeLessThan(WORK + NOISE);
  });

  it('keep a result and release the lock by one request', async () => {
    await server.resetCommandCounts();
    await instances[0]?.locks.once('alone', KEEP, () => 1);

    // The mark is read before and after the acquire.
    expect((await server.commandCounts())['evalsha']).toBe(4);
    expect(await instances[1]?.locks.query('alone')).toMatchObject({ held: [] });
  });

  it('receive a kept result by one request for all callers of an instance at a time', async () => {
    await instances[0]?.locks.once('kept', KEEP, () => 'kept');
    await server.resetCommandCounts();
    const results = await Promise.all(
      instances.flatMap(({ locks }) =>
        Array.from({ length: CALLERS }, () => locks.once('kept', KEEP, () => 'again')),
      ),
    );

    expect(new Set(results)).toEqual(new Set(['kept']));
    expect((await server.commandCounts())['evalsha']).toBe(INSTANCES);
  });
});
