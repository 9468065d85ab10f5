import { join } from 'node:path';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import { acquireSharedScript } from '../../lib/store/scripts/acquire-shared.script.js';
import { releaseScript } from '../../lib/store/scripts/release.script.js';
import { releaseSharedScript } from '../../lib/store/scripts/release-shared.script.js';
import { Gate } from '../e2e/support/gate.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { steadily } from '../support/steadily.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker, type Worker } from '../support/worker.js';
import type { ContenderCalls } from './contender.worker.js';
import { expectGrantAtEndOfLease, NOISE } from './end-of-lease.js';
import { Instance } from './instance.js';
import { PlainLock } from './plain-lock.js';

const READ = { mode: 'shared' } as const;

describe('Readers, writers and permits across instances', () => {
  const server = duringTests(() => RedisServer.start());
  const opened: Instance[] = [];
  const workers: Worker<ContenderCalls>[] = [];

  const open = async (): Promise<Instance> => {
    const instance = await new Instance({ connection: server.url, wait: 60_000 }).warmUp();
    opened.push(instance);
    return instance;
  };
  /** An instance in a process of its own, and its name. */
  const openElsewhere = async (): Promise<{ worker: Worker<ContenderCalls>; name: string }> => {
    const worker = await startWorker<ContenderCalls>(join(__dirname, 'contender.worker.ts'), [server.url]);
    workers.push(worker);
    return { worker, name: await worker.call('start') };
  };
  const ping = (): Promise<unknown> => server.client().ping();
  const queued = ({ locks }: Pick<Instance, 'locks'>, name: string, instances: number): Promise<unknown> =>
    waitFor(async () => (await locks.query(name)).pending.length === instances);
  const release = (locks: readonly Lock[]): Promise<unknown> =>
    Promise.all(locks.map((lock) => lock.release()));
  const kill = async ({ worker, name }: Awaited<ReturnType<typeof openElsewhere>>): Promise<void> => {
    await worker.kill();
    await waitFor(async () => (await server.client().pubsub('NUMSUB', `lock:inbox:${name}`))[1] === 0, {
      that: 'Redis to notice',
    });
  };

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    await Promise.all(opened.splice(0).map(({ locks }) => locks.close()));
  });

  it('are admitted together when a writer leaves: one script, and one message for each instance', async () => {
    const holder = await open();
    const others = await Promise.all([open(), open(), open()]);
    const lock = await holder.locks.acquire('row');
    const readings: Promise<Lock>[] = [];
    for (const [i, { locks }] of others.entries()) {
      readings.push(locks.acquire('row', READ), locks.acquire('row', { ...READ, limit: 50 }));
      await queued(holder, 'row', i + 1);
    }
    const log = await RequestLog.open(server);
    await lock.release();
    const first = await Promise.all(readings.filter((_, i) => i % 2 === 0));
    const requests = await log.requests();
    log.close();

    expect(requests.filter(({ args }) => args[0] === releaseScript.sha)).toHaveLength(1);
    // A re-ask that takes nobody out of the queue sends messages as well: whether the head of the queue still waits, and
    // to its own instance.
    const serving = requests
      .filter(({ calls }) => calls.includes('zpopmin'))
      .flatMap(({ messages }) => messages);
    expect(serving.filter((message) => message !== 'tried')).toHaveLength(3);
    await release([...first, ...(await Promise.all(readings))]);
  });

  it('are admitted one by one when a permit is released: one script, and one message', async () => {
    const permit = { mode: 'shared', limit: 2 } as const;
    const [holder, { locks }, other] = [await open(), await open(), await open()];
    const held = await Promise.all([1, 2].map(() => holder.locks.acquire('permit', permit)));
    const next = locks.acquire('permit', permit);
    await queued(holder, 'permit', 1);
    const last = other.locks.acquire('permit', permit);
    await queued(holder, 'permit', 2);
    const log = await RequestLog.open(server);
    await held[0]?.release();
    const lock = await next;
    const releases = (await log.requests()).filter(({ args }) => args[0] === releaseSharedScript.sha);
    log.close();

    const messages = releases.map(({ calls }) => calls.filter((name) => name === 'publish').length);
    expect(messages).toEqual([1]);
    await release([lock, ...held]);
    await release([await last]);
  });

  it('ask once for a whole turn: then each release hands the next permit over', async () => {
    const permit = { mode: 'shared', limit: 2 } as const;
    const [holder, { locks }] = [await open(), await open()];
    const held = await Promise.all([1, 2].map(() => holder.locks.acquire('turn', permit)));
    const log = await RequestLog.open(server);
    const waits = Array.from({ length: 40 }, () => locks.using('turn', permit, () => Promise.resolve()));
    await queued(holder, 'turn', 1);
    const behind = holder.locks.acquire('turn', permit);
    await queued(holder, 'turn', 2);
    await log.clear();
    await release(held);
    const last = await behind;
    await Promise.all(waits);
    const requests = (await log.requests()).filter(({ args }) => args.includes('lock:{turn}'));
    const asks = requests.filter(({ args }) => args[0] === acquireSharedScript.sha);
    log.close();

    // A busy machine may take so long that somebody asks again, at most once a second.
    expect(asks.length).toBeLessThanOrEqual(2);
    expect(requests.length - asks.length).toBeLessThanOrEqual(2 * 42);
    await last.release();
  });

  it('wait for one claim lease of a frozen instance, independently of its number of waiting callers', async () => {
    const permit = { mode: 'shared', limit: 1, ttl: 700 } as const;
    const { locks } = await open();
    const held = await locks.acquire('frozen', permit);
    const frozen = await openElsewhere();
    await frozen.worker.call('contend', 'frozen', permit, 20);
    await waitFor(async () => (await locks.query('frozen')).pending.length === 1);
    const other = await open();
    const next = other.locks.acquire('frozen', permit);
    await queued(other, 'frozen', 2);
    frozen.worker.freeze();
    const releasedAt = performance.now();
    const work = async (): Promise<void> => {
      await held.release();
      await (await next).release();
    };
    expect(await unstalled(work, ping)).toBeLessThan(2 * 700 + NOISE);
    expect(performance.now() - releasedAt).toBeGreaterThan(600);
  });

  it('are admitted past a writer killed with -9 at the head while other readers hold', async () => {
    const [holder, reader] = [await open(), await open()];
    const reading = await holder.locks.acquire('dead head', READ);
    const writer = await openElsewhere();
    await writer.worker.call('contend', 'dead head', { ttl: 60_000, wait: 60_000 });
    await queued(holder, 'dead head', 1);
    const next = reader.locks.acquire('dead head', READ);
    await queued(holder, 'dead head', 2);
    await kill(writer);

    // With the next re-ask.
    expect(await unstalled(async () => release([await next]), ping)).toBeLessThan(1_000 + NOISE);
    expect(reading.held).toBe(true);
    await reading.release();
  });

  it.each([
    ['a writer for a reader', READ, {}],
    ['a waiter for a permit', { mode: 'shared', limit: 1 }, { mode: 'shared', limit: 1 }],
  ] as const)(
    'admit %s when the lease of a holder killed with -9 expires, and not before',
    async (title, held, wanted) => {
      const { locks } = await open();
      await steadily(300, async (round) => {
        const name = `${title}:${round}`;
        const dying = await openElsewhere();
        await dying.worker.call('acquire', name, { ...held, ttl: 1_500 });
        const next = locks.acquire(name, wanted);
        await queued({ locks }, name, 1);
        await expectGrantAtEndOfLease(server, name, next, () => dying.worker.kill());
      });
    },
  );

  it('cost Redis at most 2 requests a second while 1,000 of one process wait', async () => {
    const [holder, { locks }] = [await open(), await open()];
    const lock = await holder.locks.acquire('crowd', { ttl: 60_000 });
    const waits = Array.from({ length: 1_000 }, (_, i) =>
      locks.acquire('crowd', i < 500 ? READ : { ...READ, limit: 600 }),
    );
    await queued(holder, 'crowd', 1);
    const log = await RequestLog.open(server);
    const startedAt = performance.now();
    await waitFor(() => performance.now() - startedAt > 4_000, { timeout: 6_000 });
    const requests = (await log.requests()).filter(({ args }) => args.includes('lock:{crowd}'));

    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length / ((performance.now() - startedAt) / 1_000)).toBeLessThanOrEqual(2);
    await log.clear();
    await lock.release();
    const readers = await Promise.all(waits.slice(0, 500));
    // 500 callers without a limit: a turn asks for 256 of them at most.
    const granting = (await log.requests()).filter(({ args }) => args.includes('lock:{crowd}'));
    expect(granting.length).toBeLessThan(20);
    await release(readers);
    await release(await Promise.all(waits.slice(500)));
    log.close();
  });

  it('exclude a plain client with SET NX PX, and wait for one that holds', async () => {
    const { locks } = await open();
    const plain = new PlainLock(server.client(), 'lock:{plain}');
    const readers = await Promise.all([
      locks.acquire('plain', READ),
      locks.acquire('plain', { ...READ, limit: 5 }),
    ]);
    expect(await plain.tryAcquire(1_000)).toBe(false);
    expect(await plain.release()).toBe(false);
    await readers[0]?.release();
    expect(await plain.tryAcquire(1_000)).toBe(false);
    await readers[1]?.release();

    expect(await plain.tryAcquire(60_000)).toBe(true);
    expect(await locks.tryAcquire('plain', READ)).toBeUndefined();
    expect(await locks.tryAcquire('plain', { ...READ, limit: 5 })).toBeUndefined();
    const waiting = locks.acquire('plain', READ);
    await waitFor(async () => (await locks.query('plain')).pending.length === 1);
    expect(await plain.release()).toBe(true);
    await release([await waiting]);
  });

  it('lose their holds at the next renewal when a plain client deletes or overwrites the lock', async () => {
    const { locks } = await open();
    const client = server.client();
    for (const harm of [() => client.del('lock:{harmed}'), () => client.set('lock:{harmed}', 'somebody')]) {
      const readers = await Promise.all([1, 2].map(() => locks.acquire('harmed', { ...READ, ttl: 600 })));
      const aborted = new Gate();
      for (const { signal } of readers) signal.addEventListener('abort', () => void aborted.pass());
      await harm();
      await waitFor(() => aborted.arrived === 2, { that: 'both signals to abort' });
      await release(readers);
    }

    expect(await client.get('lock:{harmed}')).toBe('somebody');
  });
});
