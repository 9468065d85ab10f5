import { setTimeout as sleep } from 'node:timers/promises';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { steadily } from '../support/steadily.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { Instance } from './instance.js';
import { PlainLock } from './plain-lock.js';
import { shareName } from './rolling-out.js';

// redlock is no dependency of these tests: PlainLock sends its commands, and shareName repeats them as redlock does.
describe('beside a package that polls', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  const open = async (connection = server.url): Promise<Instance> =>
    closing(await new Instance({ connection, wait: 60_000 }).warmUp());
  const requests = async (): Promise<number> => (await server.commandCounts())['evalsha'] ?? 0;
  const plain = (name: string): PlainLock => new PlainLock(server.client(), `lock:{${name}}`);

  it('shares a name between 4 callers and 4 of redlock within a factor of 2', async () => {
    const run = { instances: [await open()], client: server.client(), work: 50, holds: 100 };
    // In a process without a processor, both miss the times at which they should ask.
    await steadily(
      300,
      async (round) => {
        const [ours, theirs] = await shareName({ ...run, name: `shared:${round}` });

        expect({ ours, theirs, isFair: 2 * ours > theirs && 2 * theirs > ours }).toEqual({
          ours,
          theirs,
          isFair: true,
        });
      },
      () => run.client.ping(),
    );
  }, 90_000);

  it('leaves the lock free after a foreign hold and a turn, although another instance waits', async () => {
    const proxy = closing(await TcpProxy.start(server));
    const [one, other] = [await open(), await open(proxy.url)];
    const lock = plain('gap');
    await lock.tryAcquire(60_000);
    const first = one.locks.acquire('gap');
    await waitFor(async () => (await one.locks.query('gap')).pending.length === 1);
    await lock.release();
    const turn = await first;
    const second = other.locks.acquire('gap');
    await waitFor(async () => (await one.locks.query('gap')).pending.length === 1);
    // The other instance asks at the end of the gap, which passes before the next line if this process stalls.
    proxy.hold('toServer');
    await turn.release();

    expect(await lock.tryAcquire(60_000)).toBe(true);
    proxy.pass();
    await lock.release();
    await (await second).release();
  });

  it('tells a waiting instance of a gap, which asks at its end', async () => {
    const [one, other] = [await open(), await open()];
    const lock = plain('told');
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      await lock.tryAcquire(60_000);
      const first = one.locks.acquire('told');
      await waitFor(async () => (await one.locks.query('told')).pending.length === 1);
      await lock.release();
      const turn = await first;
      // This instance sees no foreign holder.
      const second = other.locks.acquire('told');
      await waitFor(async () => (await one.locks.query('told')).pending.length === 1);
      const handOver = async (): Promise<void> => {
        await turn.release();
        await (await second).release();
      };
      times.push(await unstalled(handOver, () => server.ping()));
      // Its own turn ended with a gap, too.
      await waitFor(async () => (await one.locks.query('told')).held.length === 0);
    }

    expect(Math.max(...times)).toBeLessThan(200);
  });

  it.each([1, 2])(
    'finds a client that polls a name which is never free, in %i instances',
    async (count) => {
      const instances = await Promise.all(Array.from({ length: count }, () => open()));
      const poller = plain(`busy:${count}`);
      const over = new AbortController();
      const callers = Array.from({ length: 4 }, async (_, i) => {
        while (!over.signal.aborted) await instances[i % count]?.locks.using(`busy:${count}`, () => sleep(5));
      });
      await waitFor(async () => (await instances[0]?.locks.query(`busy:${count}`))?.held.length);
      await waitFor(() => poller.tryAcquire(10_000), { timeout: 20_000, that: 'a gap' });
      const before = await requests();
      await waitFor(async () => (await requests()) > before, { that: 'an instance to meet this hold' });
      await poller.release();
      // From now on, each turn ends with a longer gap.
      const findAgain = async (): Promise<void> => {
        await waitFor(() => poller.tryAcquire(10_000), { timeout: 20_000, that: 'another gap' });
        await poller.release();
        over.abort();
        await Promise.all(callers);
      };
      expect(await unstalled(findAgain, () => server.ping())).toBeLessThan(1_000);
    },
    60_000,
  );

  it('hands a name over at once again when no other package uses it', async () => {
    const [one, other] = [await open(), await open()];
    const first = await one.locks.acquire('own');
    const second = other.locks.acquire('own');
    await waitFor(async () => (await one.locks.query('own')).pending.length === 1);
    await first.release();

    expect(await plain('own').tryAcquire(1_000)).toBe(false);
    await (await second).release();
  });
});
