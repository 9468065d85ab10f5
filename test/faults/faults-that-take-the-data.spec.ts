import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import type { Finished } from './support/contender.worker.js';
import { FaultScene, type Contender } from './support/fault-scene.js';
import type { FlatOptions } from '../support/flat-options.js';

const KEY = 'lock:{job}';
/** Renewed every 2 s, and over no earlier than 4 s after a fault: so it shows which of the two found it out. */
const TTL = 6_000;
const NEXT_RENEWAL = 3_700;
/** Renewed only every 4 s: what is found out before that was told. */
const LONG_TTL = 12_000;
const AT_ONCE = 3_500;

/** One process holds a name and another waits for it; then the lock is taken from the holder. */
describe('a fault that takes the data', () => {
  const scene = duringTests(() => FaultScene.start(2));
  let old: Contender;
  let next: Contender;
  let oldToken: number;
  let nextToken: Promise<number>;

  beforeAll(() => {
    old = scene.contender(0);
    next = scene.contender(1);
  });

  it.each<[name: string, lease: { ttl: number }, fault: () => Promise<unknown>, within: number]>([
    ['FLUSHALL', { ttl: TTL }, () => scene.admin.flushall(), NEXT_RENEWAL],
    ['another client deleting the key', { ttl: TTL }, () => scene.admin.del(KEY), NEXT_RENEWAL],
    [
      'a restart without data, which the old holder detects when it reconnects',
      { ttl: LONG_TTL },
      () => scene.server.restart({ keepData: false }),
      AT_ONCE,
    ],
    [
      'a deleted key, which the old holder detects when it reconnects',
      { ttl: LONG_TTL },
      async () => {
        await scene.admin.del(KEY);
        old.proxy.reset();
      },
      AT_ONCE,
    ],
    [
      'forceRelease, with a message to the old holder',
      { ttl: LONG_TTL },
      async () => expect(await scene.operator.forceRelease('job')).toBe(true),
      AT_ONCE,
    ],
    [
      'forceRelease of a holder whose inbox is closed, detected by its next renewal',
      { ttl: TTL },
      async () => {
        await scene.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await scene.operator.forceRelease('job');
      },
      NEXT_RENEWAL,
    ],
  ])('%s', async (_, lease, fault, within) => {
    await holdAndWait(lease);

    await scene.losing(fault);

    expect(await handedOff()).toBeLessThan(within);
    await expectNewHolderUntouched();
  });

  it('another client overwriting the key', async () => {
    await holdAndWait({ ttl: TTL });

    await scene.losing(() => scene.admin.set(KEY, 'somebody else', 'PX', 60_000));

    const lost = await untilLost();
    expect(lateness(lost)).toBeLessThan(NEXT_RENEWAL);
    // Neither the renewal nor the release of the old holder has touched what is not its own.
    expect(await scene.admin.get(KEY)).toBe('somebody else');
    expect(await scene.admin.pttl(KEY)).toBeGreaterThan(50_000);
    await scene.losing(() => scene.admin.del(KEY));
    await expectFencedOff();
    await expectNewHolderUntouched();
  });

  it('another client deleting the key, and the old holder releasing before it has noticed', async () => {
    await holdAndWait({ ttl: LONG_TTL });

    await scene.losing(() => scene.admin.del(KEY));

    await expectFencedOff();
    await old.worker.call('finish', 'job');
    await expectNewHolderUntouched();
  });

  async function holdAndWait(options: FlatOptions): Promise<void> {
    await scene.open(options);
    oldToken = await old.worker.call('hold', 'job');
    expect(await old.worker.call('write', 'job')).toBe(true);
    nextToken = next.worker.call('hold', 'job');
    await scene.untilWaiting('job', 1);
  }

  /** The next holder has begun and the old one knows; returns how many milliseconds after the fault it knew. */
  async function handedOff(): Promise<number> {
    await expectFencedOff();
    return lateness(await untilLost());
  }

  /** The next holder's token is greater, so the resource lets it in and the old holder not any more. */
  async function expectFencedOff(): Promise<void> {
    expect(await nextToken).toBeGreaterThan(oldToken);
    expect(await next.worker.call('write', 'job')).toBe(true);
    expect(await old.worker.call('write', 'job')).toBe(false);
  }

  async function untilLost(): Promise<Finished> {
    await waitFor(async () => (await old.worker.call('look', 'job')).lostBecause, {
      that: "the old holder's signal to abort",
    });
    return old.worker.call('finish', 'job');
  }

  function lateness({ code, record }: Finished): number {
    expect(code).toBe('LOCK_LOST');
    return (record.abortedAt ?? Infinity) - (scene.losses[0]?.to ?? Infinity);
  }

  /** The old holder has renewed in vain and released: the lock is the next one's as before, until that releases it. */
  async function expectNewHolderUntouched(): Promise<void> {
    expect(await scene.admin.get(KEY)).toMatch(new RegExp(`:${await nextToken}$`));
    let before = Infinity;
    await waitFor(
      async () => {
        const { remaining } = await next.worker.call('look', 'job');
        const renewed = remaining > before;
        before = remaining;
        return renewed;
      },
      { that: 'the next holder to renew its lease' },
    );
    expect(await next.worker.call('finish', 'job')).toMatchObject({ code: undefined });
    expect(await scene.admin.exists(KEY)).toBe(0);
    expect(await scene.close()).toMatchObject({ problems: [], refused: [] });
  }
});
