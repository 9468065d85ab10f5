import { setTimeout as sleep } from 'node:timers/promises';
import { Gate } from '../e2e/support/gate.js';
import { duringEachTest, duringTests } from '../support/during-tests.js';
import { steadily } from '../support/steadily.js';
import { waitFor } from '../support/wait-for.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { Instance, type InstanceOptions } from './instance.js';

describe('Silence', () => {
  const server = duringTests(() => RedisServer.start());
  const instances = [1, 2, 3, 4].map(() =>
    duringEachTest(() => new Instance({ connection: server.url }).warmUp()),
  );
  const log = duringEachTest(() => RequestLog.open(server));

  it('costs exactly 2 requests for an uncontended lock and unlock', async () => {
    const [{ locks }] = instances as [Instance];
    await locks.using('free', () => undefined);
    expect(await log.counts()).toEqual({ evalsha: 2 });

    await log.clear();
    for (let i = 0; i < 50; i++) await locks.using('free', () => undefined);
    expect(await log.counts()).toEqual({ evalsha: 100 });
  });

  it('costs exactly 1 request for a failed attempt', async () => {
    const [{ locks }, other] = instances as [Instance, Instance];
    await using _ = await locks.acquire('taken');
    await log.clear();
    expect(await other.locks.tryAcquire('taken')).toBeUndefined();
    expect(await log.counts()).toEqual({ evalsha: 1 });
  });

  it('costs no request for re-entry, and for an attempt while a local caller holds the lock', async () => {
    const [{ locks }] = instances as [Instance];
    await locks.using('nested', async () => {
      await log.clear();
      await locks.using('nested', () => undefined);
      await locks.tryAcquire('nested', { reentrant: false });
      expect(await log.counts()).toEqual({});
    });
  });

  it('costs at most 2 requests a second for 1,000 callers in one process that wait 4 s for a name held elsewhere', async () => {
    const [holder] = instances as [Instance];
    // A connection on which nothing arrives for a second is tried again.
    await steadily(300, async (round) => {
      // One that has waited before needs no trial for a while.
      await using waiter = await new Instance({ connection: server.url }).warmUp();
      const { locks } = waiter;
      const name = `held elsewhere:${round}`;
      const lock = await holder.locks.acquire(name, { ttl: 60_000 });
      const waits = Array.from({ length: 1_000 }, () => locks.acquire(name, { wait: Infinity }));
      await waitFor(async () => (await locks.query(name)).pending.length === 1);
      await log.clear();
      const startedAt = performance.now();
      await sleep(4_000);
      const requests = await log.requests();
      const seconds = (performance.now() - startedAt) / 1_000;
      await lock.release();
      for (const wait of waits) await (await wait).release();

      expect(requests.length).toBeGreaterThan(0);
      expect(requests.length / seconds).toBeLessThanOrEqual(2);
      // Each re-ask is heard on the connection for messages, so only before the first one, this connection is tried.
      expect(requests.filter(({ args }) => args.includes('lock:{trial}:trial'))).toHaveLength(1);
    });
  }, 90_000);

  it('wakes exactly one instance by a release, and only that one sends requests', async () => {
    const [holder, ...others] = instances as [Instance, Instance, Instance, Instance];
    // On a machine that stands still, they ask again, and try their connections.
    const measure = async (round: number): Promise<void> => {
      const contended = `contended:${round}`;
      const lock = await holder.locks.acquire(contended);
      const gate = new Gate();
      const waits: Promise<void>[] = [];
      const granted: string[] = [];
      for (const [i, { locks, name }] of others.entries()) {
        waits.push(
          locks.using(contended, { wait: Infinity }, async () => {
            granted.push(name);
            await gate.pass();
          }),
        );
        await waitFor(async () => (await holder.locks.query(contended)).pending.length === i + 1);
      }
      await server.resetCommandCounts();
      await log.clear();
      await lock.release();
      await waitFor(() => granted.length === 1);
      const seen = await log.requests();
      const { publish } = await server.commandCounts();
      const first = [...granted];
      for (const _ of waits) {
        await waitFor(() => gate.arrived > 0);
        gate.arrived -= 1;
        gate.open();
      }
      await Promise.all(waits);

      expect(publish).toBe(1);
      expect(first).toEqual([others[0].name]);
      // The release itself, and the renewal that makes the claim lease a full one.
      expect(seen.filter(({ args }) => args.some((each) => each.includes(holder.name)))).toHaveLength(1);
      for (const { name } of others.slice(1)) {
        expect(seen.filter(({ args }) => args.some((each) => each.includes(name)))).toEqual([]);
      }
    };
    await steadily(300, measure, () => server.ping());
  });

  it('publishes nothing by a release without waiters', async () => {
    const [{ locks }] = instances as [Instance];
    await server.resetCommandCounts();
    await locks.using('alone', () => undefined);

    expect(await server.commandCounts()).not.toHaveProperty('publish');
  });

  it.each<[string, Partial<InstanceOptions>]>([
    ['that poll', { wake: 'poll' }],
    ['with keys for each name', { layout: 'per-name' }],
  ])('publishes nothing by a forced release between instances %s', async (_layout, options) => {
    await using instance = new Instance({ connection: server.url, ...options });
    await using _ = await instance.locks.acquire('n');
    await server.resetCommandCounts();
    expect(await instance.locks.forceRelease('n')).toBe(true);

    expect(await server.commandCounts()).not.toHaveProperty('publish');
  });

  it('costs no request to pass a lock on within an instance while its budget lasts', async () => {
    // The time of its budget outlasts stalls of the machine.
    await using instance = new Instance({ connection: server.url, budget: { window: 60_000 } });
    const { locks } = await instance.warmUp();
    // Redis knows the script of a yield.
    const before = await locks.acquire('before');
    const next = locks.acquire('before');
    await before.release();
    await (await next).release();
    const gate = new Gate();
    const first = locks.using('local', () => gate.pass());
    const rest = Array.from({ length: 20 }, () => locks.using('local', () => undefined));
    await waitFor(() => gate.arrived === 1);
    await log.clear();
    gate.open();
    await Promise.all([first, ...rest]);

    // One yield for a block of tokens, since the first turn began with a single caller, and the release.
    expect((await log.requests()).length).toBeLessThanOrEqual(3);
  });
});
