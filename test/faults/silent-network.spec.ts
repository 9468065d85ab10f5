import { setTimeout as sleep } from 'node:timers/promises';
import { isQueued } from '../contract/observe.js';
import { FarServer, HAS_NAMESPACES } from '../support/far-server.js';
import { Instance } from '../redis/instance.js';
import { steadily } from '../support/steadily.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';

const [describeFar, withoutFar] = HAS_NAMESPACES
  ? [describe, '']
  : [describe.skip, ' (skipped: needs root, Linux, and the programs ip, unshare and nsenter)'];

/** As silent-connections.spec.ts does by a proxy; here the kernel drops the packets. */
describeFar(`A network namespace that drops packets silently${withoutFar}`, () => {
  /** Time until calls succeed, and until hand-offs are immediate again. */
  const RECOVERY = 3_000;
  const TTL = 3_000;
  let server: FarServer;
  let cut: Instance;
  let healthy: Instance;

  const open = async (connectionName: string): Promise<Instance> => {
    const { host, port } = server;
    const instance = new Instance({ connection: { host, port, connectionName } });
    return instance.warmUp();
  };

  beforeEach(async () => {
    server = await FarServer.start();
    cut = await open('cut');
    healthy = await open('healthy');
  });
  afterEach(async () => {
    try {
      await Promise.all([cut.locks.close(), healthy.locks.close()]);
    } finally {
      await server.stop();
    }
  });

  /** The time of a hand-off, after the next caller has waited for so long. */
  const handOff = async (from: Instance, to: Instance, wait = 0): Promise<number> => {
    const lock = await from.locks.acquire('handed over', { ttl: TTL });
    const next = to.locks.acquire('handed over');
    await isQueued(from.locks, 'handed over', 1);
    await sleep(wait);
    const releasedAt = performance.now();
    await lock.release();
    await (await next).release();
    return performance.now() - releasedAt;
  };

  describe.each(['toServer', 'toClient'] as const)('in this direction: %s', (direction) => {
    it('delays a call on a cut command connection, and keeps its hold', async () => {
      const ping = (): Promise<unknown> => healthy.locks.measureRoundTrip();
      const measure = async (round: number): Promise<void> => {
        // Redis keeps the dead connection of an earlier round.
        const name = `cut-${round}`;
        await using silent = await open(name);
        await using kept = await silent.locks.acquire(name, { ttl: TTL });
        expect(await server.cut(name, 'commands', direction)).toBe(1);
        const cutAt = performance.now();
        const awake = await unstalled(async () => {
          expect(await silent.locks.using('n', ({ held }) => held)).toBe(true);
        }, ping);
        // Otherwise the rule has dropped nothing.
        expect(performance.now() - cutAt).toBeGreaterThan(500);
        expect(awake).toBeLessThan(RECOVERY);
        // Without renewals over a new connection, the lease would expire.
        await handOff(healthy, silent, TTL);
        expect((await healthy.locks.query(name)).held).toHaveLength(1);
        expect(kept.held).toBe(true);
      };
      await steadily(300, measure, ping);
    });

    it('replaces a cut connection for messages within 3 s while a caller waits', async () => {
      await handOff(healthy, cut);
      await handOff(cut, healthy);
      expect(await server.cut('cut', 'listening', direction)).toBe(1);
      await handOff(healthy, cut, RECOVERY);
      // Without the message, each hand-off takes about half a second, however often it is tried.
      await waitFor(
        async () => {
          const times = [
            await handOff(healthy, cut),
            await handOff(healthy, cut),
            await handOff(healthy, cut),
          ];
          return Math.max(...times) < 200;
        },
        { that: 'three prompt hand-offs in a row' },
      );
      expect(cut.logged).toEqual([expect.stringContaining('connection for messages')]);
    });
  });

  it('keeps a hold and a place in the queue while the whole link is down', async () => {
    const kept = await cut.locks.acquire('kept', { ttl: 2 * TTL });
    const next = healthy.locks.acquire('kept', { outageTimeout: 2 * TTL });
    await isQueued(cut.locks, 'kept', 1);
    server.setLink('down');
    await sleep(RECOVERY);
    server.setLink('up');
    const took = await unstalled(async () => {
      expect(await cut.locks.using('n', ({ held }) => held)).toBe(true);
      await kept.release();
      await (await next).release();
    });
    expect(took).toBeLessThan(RECOVERY);
  });
});
