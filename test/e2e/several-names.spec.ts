import { Injectable, Logger } from '@nestjs/common';
import { CurrentLock, type Lock, Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { waitFor } from '../support/wait-for.js';
import { startModule } from './support/start-module.js';

interface Order {
  readonly customer: string;
  readonly items: readonly { readonly sku: string }[];
}

@Injectable()
class Orders {
  @Locked(['stock:<0.items[].sku>', 'customer:<0.customer>'])
  async place<T>(
    _order: Order,
    work: (lock: Lock | undefined) => T | Promise<T>,
    @CurrentLock() lock?: Lock,
  ): Promise<T> {
    return work(lock);
  }

  @Locked(['stock:<0.items[].sku>', 'customer:<0.customer>'], { wait: 0, onTimeout: 'skip' })
  async tryToPlace(_order: Order): Promise<string | undefined> {
    return 'placed';
  }

  @Locked('stock:<0[]>')
  async reserve(_skus: readonly string[]): Promise<void> {}
}

const orderOf = (customer: string, ...skus: string[]): Order => ({
  customer,
  items: skus.map((sku) => ({ sku })),
});

describe('@Locked with several templates', () => {
  const server = duringTests(() => RedisServer.start());
  const application = duringTests(() =>
    startModule({ imports: [RedisLockModule.forRoot({ connection: server.url })], providers: [Orders] }),
  );
  let orders: Orders;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    orders = application.get(Orders);
    await orders.place(orderOf('warm-up', 'warm-up'), () => undefined);
  });

  const locksLeft = async (): Promise<string[]> =>
    (await server.client().keys('*')).filter((key) => key !== 'lock:fence');

  it('holds one name for each element and those of the other templates, taken in one request', async () => {
    const log = await RequestLog.open(server);
    const keys = await orders.place(orderOf('ann', 'pen', 'book', 'pen'), async (lock) => {
      expect(await log.counts()).toEqual({ evalsha: 1 });
      return lock?.keys;
    });
    expect(await log.counts()).toEqual({ evalsha: 2 });
    log.close();

    expect(keys).toEqual(['customer:ann', 'stock:book', 'stock:pen']);
    expect(await locksLeft()).toEqual([]);
  });

  it('runs independent orders in parallel, and overlapping ones in sequence', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, (inside += 1));
      await new Promise((resolve) => void setImmediate(resolve));
      inside -= 1;
    };
    let met = 0;
    const meet = async (): Promise<void> => {
      met += 1;
      await waitFor(() => met === 2, { that: 'the other order' });
    };
    await Promise.all([
      orders.place(orderOf('ann', 'pen', 'book'), meet),
      orders.place(orderOf('bob', 'cup', 'mug'), meet),
    ]);
    await Promise.all([
      orders.place(orderOf('ann', 'pen', 'book'), work),
      orders.place(orderOf('bob', 'book', 'cup'), work),
      orders.place(orderOf('cid', 'book', 'pen'), work),
      orders.place(orderOf('dan', 'cup', 'book', 'pen'), work),
    ]);

    expect(most).toBe(1);
    expect(await locksLeft()).toEqual([]);
  });

  it('skips if one of the names is taken, and leaves the others free', async () => {
    const locks = application.get(LockService);
    const taken = await locks.acquire('stock:book');

    expect(await orders.tryToPlace(orderOf('ann', 'pen', 'book'))).toBeUndefined();
    await taken.release();
    expect(await orders.tryToPlace(orderOf('ann', 'pen', 'book'))).toBe('placed');
  });

  it('refuses more than 256 names, without a request for any of them', async () => {
    const log = await RequestLog.open(server);
    const skus = Array.from({ length: 256 }, (_, i) => `sku-${i}`);
    await expect(orders.reserve([...skus, 'one more'])).rejects.toMatchObject({
      code: 'LOCK_KEY',
      message: expect.stringContaining('Orders.reserve names 257 locks, and one call takes at most 256.'),
    });
    expect(await log.counts()).toEqual({});
    log.close();
    await orders.reserve([...skus, 'sku-0']);
  });

  it('notifies the work by its signal, and the caller by an error, of a lost name', async () => {
    const locks = application.get(LockService);
    const placed = orders.place(orderOf('ann', 'pen', 'book'), async (lock) => {
      await locks.forceRelease('stock:pen');
      await waitFor(() => lock?.signal.aborted, { that: 'the signal to abort' });
      expect(lock?.held).toBe(false);
      expect(() => lock?.assertHeld()).toThrow(expect.objectContaining({ keys: ['stock:pen'] }));
    });

    await expect(placed).rejects.toMatchObject({ code: 'LOCK_LOST', keys: ['stock:pen'] });
    expect(await locksLeft()).toEqual([]);
  });
});
