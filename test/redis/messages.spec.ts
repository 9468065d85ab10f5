import { createLockService } from '../../lib/nest/module/lock-module.definition.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { BEARABLE, IN_VAIN } from '../contract/observe.js';
import { duringEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { waitFor } from '../support/wait-for.js';

describe('The message of an error', () => {
  const server = duringEachTest(() => RedisServer.start());
  const open = async (): Promise<LockService> =>
    createLockService(resolveModuleOptions({ connection: server.url }));
  const first = duringEachTest(open);
  const second = duringEachTest(open);

  beforeEach(async () => {
    for (const locks of [first, second]) await locks.using('warm-up', () => undefined);
  });

  const messageOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'none',
      (error: unknown) => String(error),
    );

  it.each([
    ['the same instance', () => first],
    ['another instance of the process', () => second],
  ])('of a timeout names lock, caller, wait, and the holder in %s', async (_where, waiter) => {
    await using _ = await first.acquire('order:1', { label: 'Orders.pay' });
    const other = await first.acquire('order:2');
    const options = { wait: IN_VAIN, label: 'Orders.ship' };
    const wait = String.raw`not acquired within \d+ ms \(Orders\.ship\)`;
    const holder = String.raw`Held by Orders\.pay in this process, lease ends in \d+ ms unless renewed\.`;
    const measure = async (): Promise<void> => {
      const [one, both] = await Promise.all([
        messageOf(waiter().acquire('order:1', options)),
        messageOf(waiter().acquire(['order:1', 'order:2'], { ...options, wait: 0 })),
      ]);

      expect(one).toMatch(
        new RegExp(`^LockTimeoutError: Lock "order:1" was ${wait}\\. ${holder} Retry later, or raise`),
      );
      expect(both).toMatch(
        new RegExp(`^LockTimeoutError: Locks? "order:1".* (?:was|were) ${wait}\\. ${holder}`),
      );
    };
    await steadily(BEARABLE, measure, () => server.ping());
    await other.release();
  });

  it('of a timeout names the instance of a holder in another process', async () => {
    await server.client().set('lock:{order:1}', 'web-3-42-v1-0123456789ab:7', 'PX', 60_000);

    expect(await messageOf(first.acquire('order:1', { wait: 0 }))).toMatch(
      /^LockTimeoutError: Lock "order:1" was not acquired .* Held by web-3-42-v1-0123456789ab, lease ends in \d+ ms/,
    );
  });

  it('of a loss names lock, holder, age and cure', async () => {
    const lock = await first.acquire('order:1', { label: 'Orders.pay' });
    await second.forceRelease('order:1');
    await waitFor(() => lock.signal.aborted);
    await lock.release();

    expect(String(lock.signal.reason)).toMatch(
      /^LockLostError: The hold on "order:1" ended after \d+ ms \(Orders\.pay\)\. The lock was released forcibly .* Stop its work/,
    );
  });

  it('of an outage names locks, caller, wait and cure', async () => {
    server.freeze();
    const options = { wait: 50, label: 'Orders.pay' };
    const [one, both] = await Promise.all([
      messageOf(first.acquire('order:1', options)),
      messageOf(first.acquire(['order:2', 'order:3'], options)),
    ]);
    server.thaw();

    const end = String.raw`not acquired within \d+ ms \(Orders\.pay\)\. To check Redis, run`;
    expect(one).toMatch(new RegExp(`^LockUnavailableError: .*, so lock "order:1" was ${end}`));
    expect(both).toMatch(new RegExp(`^LockUnavailableError: .*, so locks "order:2", "order:3" were ${end}`));
  });
});
