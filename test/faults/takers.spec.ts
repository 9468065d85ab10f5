import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import { transferScript } from '../../lib/store/scripts/transfer.script.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import { Instance } from '../redis/instance.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';

type Outcome = { readonly lock: Lock } | { readonly error: unknown };

/** A taker of detached holds, whose connection can be disturbed. */
interface Taker {
  readonly proxy: TcpProxy;
  readonly instance: Instance;
}

/** What one string contains. */
interface Parts {
  readonly what: string;
  readonly names: readonly string[];
  readonly options: LockOptions;
}

const ALL_PARTS: readonly [Parts, ...Parts[]] = [
  { what: 'a hold of one name', names: ['n'], options: {} },
  { what: 'several permits', names: ['n'], options: { mode: 'shared', limit: 4, permits: 3 } },
  { what: 'several names', names: ['a', 'b', 'c'], options: {} },
];

describe('Takers of one string', () => {
  let server: RedisServer;
  let giver: Instance;
  let takers: Taker[];

  beforeEach(async () => {
    server = await RedisServer.start();
    giver = await new Instance({ connection: server.url }).warmUp();
    takers = [];
    for (let i = 0; i < 3; i++) {
      const proxy = await TcpProxy.start(server);
      takers.push({
        proxy,
        instance: await new Instance({ connection: proxy.url, commandTimeout: 300 }).warmUp(),
      });
    }
  });
  afterEach(async () => {
    for (const { instance, proxy } of takers) {
      proxy.pass();
      await instance.locks.close();
      await proxy[Symbol.asyncDispose]();
    }
    await giver.locks.close();
    await server.stop();
  });

  const detached = async (parts: Parts): Promise<string> =>
    (await giver.locks.acquire(parts.names, parts.options)).detach(60_000);
  const attach = ({ instance }: Taker, transfer: string, outageTimeout = 5_000): Promise<Outcome> =>
    instance.locks.attach(transfer, { ttl: 20_000, outageTimeout }).then(
      (lock) => ({ lock }),
      (error: unknown) => ({ error }),
    );
  const expectNothingLeft = async (): Promise<void> => {
    const admin = server.client();
    await waitFor(async () => (await admin.keys('*')).every((key) => key === 'lock:fence'), {
      that: 'everything to be released',
    });
  };

  it.each(ALL_PARTS)(
    'one has $what, also with lost and late replies, and all others learn that',
    async (parts) => {
      for (let round = 0; round < 6; round++) {
        const transfer = await detached(parts);
        const asking = takers.slice(0, 2 + (round % 2));
        for (const [i, { proxy }] of asking.entries()) {
          if ((round + i) % 3 === 0) void proxy.loseNextReply(transferScript.sha);
          if ((round + i) % 3 === 1) proxy.delay(2 * round);
        }
        const outcomes = await Promise.all(asking.map((taker) => attach(taker, transfer)));
        for (const { proxy } of asking) proxy.pass();
        const locks = outcomes.flatMap((outcome) => ('lock' in outcome ? [outcome.lock] : []));
        const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));

        expect(locks.map(({ held, keys }) => ({ held, keys }))).toEqual([{ held: true, keys: parts.names }]);
        for (const error of errors) expect(error).toMatchObject({ code: 'LOCK_LOST' });
        await locks[0]?.extend();
        await locks[0]?.release();
      }
      await expectNothingLeft();
    },
  );

  it.each(ALL_PARTS)(
    'get $what at once when another taker has learned that its attach failed',
    async (parts) => {
      const [first, second] = takers as [Taker, Taker];
      for (const late of [400, 800, 1_200]) {
        const transfer = await detached(parts);
        first.proxy.hold('toClient');
        const attaching = attach(first, transfer, 100);
        setTimeout(() => first.proxy.pass(), late);
        expect(await attaching).toMatchObject({ error: { code: 'LOCK_UNAVAILABLE' } });
        const outcome = await attach(second, transfer);

        expect(outcome).toMatchObject({ lock: { held: true, keys: parts.names } });
        if ('lock' in outcome) await outcome.lock.release();
      }
      await expectNothingLeft();
    },
  );

  it('get the hold at once when the signal of another taker has ended its attach', async () => {
    const [first, second] = takers as [Taker, Taker];
    const [parts] = ALL_PARTS;
    const transfer = await detached(parts);
    const aborter = new AbortController();
    first.proxy.hold('toClient');
    const attaching = first.instance.locks.attach(transfer, { signal: aborter.signal });
    setTimeout(() => aborter.abort(new Error('enough')), 50);
    setTimeout(() => first.proxy.pass(), 200);
    await expect(attaching).rejects.toThrow('enough');

    const outcome = await attach(second, transfer);
    expect(outcome).toMatchObject({ lock: { held: true } });
    if ('lock' in outcome) await outcome.lock.release();
    await expectNothingLeft();
  });
});
