import { duringTests } from '../../support/during-tests.js';
import { RequestLog } from '../../support/request-log.js';
import { waitFor } from '../../support/wait-for.js';
import { QuorumScene } from './scene.js';

const NAMES = 32;

describe('the requests of one tick to the nodes of a quorum', () => {
  const scene = duringTests(() => QuorumScene.start(), 60_000);
  let tests = 0;
  let names: string[];

  afterEach(() => scene.endInstances());
  beforeEach(() => {
    tests += 1;
    names = Array.from({ length: NAMES }, (_, i) => `batch:${tests}:${i}`);
  });

  it('travels as one call for many names, and so does their release', async () => {
    const instance = await scene.instance();
    const log = await RequestLog.open(scene.node(0).server);
    const locks = await Promise.all(names.map((name) => instance.locks.acquire(name)));
    expect(new Set(locks.map(({ fencingToken }) => fencingToken)).size).toBe(NAMES);
    await Promise.all(locks.map((lock) => lock.release()));

    await waitFor(async () => (await log.counts())['evalsha'] === 2, { that: 'one call each way' });
    log.close();
  });

  it('is answered for each name by itself', async () => {
    const [instance, other] = [await scene.instance(), await scene.instance()];
    const [taken = '', ...free] = names;
    await using held = await other.locks.acquire(taken);
    const locks = await Promise.all(names.map((name) => instance.locks.tryAcquire(name)));

    expect(locks.map((lock) => lock !== undefined)).toEqual([false, ...free.map(() => true)]);
    expect(held.held).toBe(true);
    await Promise.all(locks.flatMap((lock) => lock?.release() ?? []));
  });

  it('are repeated name by name if a node rejects one of them', async () => {
    const instance = await scene.instance();
    const [foreign = '', ...free] = names;
    for (const node of scene.nodes.keys()) await scene.client(node).hset(`lock:{${foreign}}`, 'of', 'others');
    const refused = instance.locks.acquire(foreign).catch((error: unknown) => error);
    const locks = await Promise.all(free.map((name) => instance.locks.acquire(name)));

    expect(await refused).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(locks.every(({ held }) => held)).toBe(true);
    await Promise.all(locks.map((lock) => lock.release()));
    for (const name of free) expect(await scene.owners(name)).toEqual(scene.nodes.map(() => null));
  });
});
