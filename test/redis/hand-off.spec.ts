import { Redis, type RedisOptions } from 'ioredis';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';
import { releaseScript } from '../../lib/store/scripts/release.script.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { type ClientRequest, RequestLog } from '../support/request-log.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

describe('Hand-off across instances', () => {
  const server = duringTests(() => RedisServer.start());
  const log = duringTests(() => RequestLog.open(server));
  let inboxRoad: TcpProxy;
  let near: Instance;
  let far: Instance;
  let client: TwoRoads;

  /** Goes one way for commands and another one for its inbox. */
  class TwoRoads extends Redis {
    /** Whether what was sent with TIME waited for what was sent next. */
    readonly corked: boolean[] = [];

    override time(): Promise<number[]> {
      this.corked.push(this.stream.writableCorked > 0);
      return super.time();
    }

    override duplicate(options?: Partial<RedisOptions>): Redis {
      return super.duplicate({ ...options, port: inboxRoad.port });
    }
  }

  beforeEach(async () => {
    inboxRoad = await TcpProxy.start(server);
    client = new TwoRoads({ host: '127.0.0.1', port: server.port });
    near = await new Instance({ connection: server.url, wait: 20_000 }).warmUp();
    far = await new Instance({ connection: client, wait: 20_000, outageTimeout: 20_000 }).warmUp();
  });
  afterEach(async () => {
    inboxRoad.pass();
    await Promise.all([near.locks.close(), far.locks.close()]);
    client.disconnect();
    await inboxRoad.close();
  });

  const queued = (name: string, instances: number): Promise<unknown> =>
    waitFor(async () => (await near.locks.query(name)).pending.length === instances);

  const isCallOf =
    ({ sha }: LuaScript) =>
    ({ command, args }: ClientRequest): boolean =>
      command === 'evalsha' && args[0] === sha;
  /** What went ahead of the release on its connection. */
  const ahead = async (): Promise<string | undefined> => {
    const requests = await log.requests();
    const at = requests.findIndex(isCallOf(releaseScript));
    return requests.slice(0, at).findLast(({ from }) => from === requests[at]?.from)?.command;
  };

  it('keeps the place of a waiter with a late message, while its instance uses other names', async () => {
    const name = 'late-message';
    await using third = await new Instance({ connection: server.url, wait: 20_000 }).warmUp();
    const order: string[] = [];
    const enter = (who: string, { locks }: Instance): Promise<unknown> =>
      locks.using(name, () => void order.push(who));
    const holder = await near.locks.acquire(name);
    const first = enter('first', far);
    await queued(name, 1);
    const second = enter('second', third);
    await queued(name, 2);
    inboxRoad.delay(1_500);
    await holder.release();
    await far.locks.using(`${name}:other`, () => undefined);
    await Promise.all([first, second]);

    expect(order).toEqual(['first', 'second']);
  });

  it('reaches the waiter before the reply to the release is written', async () => {
    await log.clear();
    await (await near.locks.acquire('led')).release();
    expect(await ahead()).toBe('evalsha');

    const lock = await near.locks.acquire('led');
    const waits = far.locks.acquire('led');
    await queued('led', 1);
    const waitsAgain = lock.release().then(() => near.locks.acquire('led'));
    const handedOn = await waits;
    await queued('led', 1);
    await log.clear();
    await handedOn.release();
    expect(await ahead()).toBe('time');
    await (await waitsAgain).release();
    expect(client.corked).not.toContain(false);
  });

  it('reaches the waiter first, although other locks are released in that tick', async () => {
    const lock = await far.locks.acquire('led');
    const waits = near.locks.acquire('led');
    await queued('led', 1);
    const reading = await near.locks.acquire('read', { mode: 'shared' });
    await lock.release();
    const handedOn = await waits;
    await log.clear();
    await Promise.all([reading.release(), handedOn.release()]);

    expect(await ahead()).toBe('time');
  });

  it('sends a rejected leading command only once', async () => {
    const admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', 'timeless', 'reset', 'on', '>secret', '~*', '&*', '+@all', '-time');
    const connection = server.url.replace('redis://', 'redis://timeless:secret@');
    await using timeless = await new Instance({ connection, wait: 20_000 }).warmUp();
    await admin.call('ACL', 'LOG', 'RESET');
    for (let turn = 1; turn <= 3; turn++) {
      const lock = await near.locks.acquire('timeless');
      const waits = timeless.locks.acquire('timeless');
      await queued('timeless', 1);
      await lock.release();
      await (await waits).release();
    }
    const refused = (await admin.call('ACL', 'LOG')) as string[][];
    admin.disconnect();

    const fromOutside = refused.filter((entry) => entry.includes('time') && entry.includes('toplevel'));
    expect(fromOutside.map((entry) => entry[entry.indexOf('count') + 1])).toEqual([1]);
  });

  it('keeps the place of an instance that loses its inbox while it waits', async () => {
    await using third = await new Instance({ connection: server.url, wait: 20_000 }).warmUp();
    const lock = await near.locks.acquire('kept place');
    const order: string[] = [];
    const waits = [far.locks.using('kept place', () => void order.push('far'))];
    await queued('kept place', 1);
    waits.push(third.locks.using('kept place', () => void order.push('third')));
    await queued('kept place', 2);
    inboxRoad.reset();
    await waitFor(() => far.store.wakesBy('n') === undefined);
    await waitFor(() => far.store.wakesBy('n') !== undefined, { that: 'the inbox to be subscribed again' });
    await lock.release();
    await Promise.all(waits);

    expect(order).toEqual(['far', 'third']);
  });

  it('is preceded by a re-ask for all waiters when the inbox is subscribed again', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `everyone:${i}`);
    const locks = await Promise.all(names.map((name) => near.locks.acquire(name)));
    const waits = names.map((name) => far.locks.acquire(name));
    await Promise.all(names.map((name) => queued(name, 1)));
    inboxRoad.reset();
    await waitFor(() => far.store.wakesBy('n') === undefined);
    // While its inbox is closed it counts as gone: the locks become free.
    await Promise.all(locks.map((lock) => lock.release()));
    for (const wait of waits) await (await wait).release();

    expect(far.engine.size).toBe(0);
  });

  it('admits readers by a release itself once an earlier one has met a reader', async () => {
    await using holder = await new Instance({ connection: server.url }).warmUp();
    const names = ['readers:1', 'readers:2'];
    const locks: Lock[] = [];
    for (const name of names) locks.push(await holder.locks.acquire(name));
    const reads = names.map((name) => far.locks.acquire(name, { mode: 'shared' }));
    await Promise.all(names.map((name) => queued(name, 1)));
    await log.clear();
    for (const [i, lock] of locks.entries()) {
      await lock.release();
      await reads[i];
    }
    const releases = (await log.requests()).filter(isCallOf(releaseScript));
    for (const read of reads) await (await read).release();

    // The counter, and the lock with its queue; then also the key of the shared holders.
    expect(releases.map(({ args }) => args[1])).toEqual(['3', '4']);
  });
});
