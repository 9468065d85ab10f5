import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { LockClosedError } from '../../../lib/errors/lock.error.js';
import { aborted, isFree, isQueued } from '../observe.js';
import { CLOSED, outcomesOf } from '../closed-calls.js';
import type { ContractContext } from '../lock-backend.js';

/** The end of an instance. */
export function describeShutdown(all: ContractContext): void {
  const { it } = all;
  let lingering: { readonly lock: Lock; readonly closed: Promise<void> };

  // Ahead of the tests of all parts, since holders have seconds to end.
  beforeAll(async () => {
    const ending = all.backend.service();
    const lock = await ending.acquire('lingering');
    lingering = { lock, closed: ending.close() };
  });

  const { shares } = all.capabilities;
  describe('shutdown', () => {
    it('ends waits for a taken lock at once, those of new callers too', async ({ backend, locks, name }) => {
      const ending = backend.service();
      const lock = await locks.acquire(name);
      const waits = [ending.acquire(name), ending.acquire(name)].map((wait) =>
        wait.catch((error: unknown) => error),
      );
      await isQueued(locks, name, 1);
      ending.beginShutdown();

      for (const refused of await Promise.all(waits)) {
        expect(refused).toBeInstanceOf(LockClosedError);
        expect(refused).toMatchObject({ code: 'LOCK_CLOSED', keys: [name] });
      }
      await expect(ending.acquire(name)).rejects.toBeInstanceOf(LockClosedError);
      await expect(ending.acquire([name, `${name}+`])).rejects.toMatchObject({
        code: 'LOCK_CLOSED',
        keys: [name],
      });
      if (shares)
        await expect(ending.acquire(name, { mode: 'shared' })).rejects.toBeInstanceOf(LockClosedError);
      expect(await ending.tryAcquire(name)).toBeUndefined();
      await expect(ending.acquire(name, { wait: 0 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
      await isQueued(locks, name, 0);
      await lock.release();
      await ending.close();
    });

    it('ends waits for a lock that a caller of the same instance holds', async ({ backend, name }) => {
      const ending = backend.service();
      const lock = await ending.acquire(name);
      const waiting = ending.acquire(name);
      ending.beginShutdown();

      await expect(waiting).rejects.toBeInstanceOf(LockClosedError);
      await expect(ending.acquire(name)).rejects.toBeInstanceOf(LockClosedError);
      expect(lock.held).toBe(true);
      await lock.release();
      await ending.close();
    });

    it('grants free locks of every kind until the holders have ended', async ({ backend, locks, name }) => {
      const ending = backend.service();
      ending.beginShutdown();
      const reader = shares ? await locks.acquire(name, { mode: 'shared' }) : undefined;
      const holds = [
        await ending.acquire(`${name}1`),
        await ending.acquire([`${name}2`, `${name}3`]),
        await ending.acquire(name, { mode: shares ? 'shared' : 'exclusive' }),
      ];
      const attempted = await ending.tryAcquire(`${name}4`);
      const closed = ending.close();
      const last = await ending.using(`${name}5`, ({ held }) => held);

      expect([...holds, attempted].map((lock) => lock?.held)).toEqual([true, true, true, true]);
      expect(last).toBe(true);
      for (const lock of [reader, ...holds, attempted]) await lock?.release();
      await closed;
      await expect(ending.acquire(`${name}1`)).rejects.toBeInstanceOf(LockClosedError);
      await expect(ending.tryAcquire(`${name}1`)).rejects.toBeInstanceOf(LockClosedError);
      for (const each of [name, `${name}1`, `${name}2`, `${name}3`, `${name}4`]) await isFree(locks, each);
    });

    it('lets running work reuse its hold, wait for its own branches and take further locks', async (context) => {
      const { backend, locks, name } = context;
      const ending = backend.service();
      const steps: string[] = [];
      const working = ending.using(name, async () => {
        ending.beginShutdown();
        const branches = ['first', 'second'].map((step) =>
          ending.using(name, async () => {
            await ending.using(`${name}+`, { mode: shares ? 'shared' : 'exclusive' }, () => undefined);
            steps.push(step);
          }),
        );
        await Promise.all(branches);
      });
      await ending.close();
      await working;

      expect(steps).toEqual(['first', 'second']);
      await isFree(locks, name);
    });

    it('waits in two steps: first for the present holders, then for the later ones', async (context) => {
      const { backend, locks, name } = context;
      const ending = backend.service();
      const present = await ending.acquire(`${name}1`);
      const awaited = ending.awaitHolders();
      const later = await ending.acquire(`${name}2`);
      await present.release();
      await awaited;
      expect(later.held).toBe(true);
      await ending.using(`${name}1`, () => undefined);
      const closed = ending.close();
      expect(later.signal.aborted).toBe(false);
      await later.release();
      await closed;

      await isFree(locks, `${name}2`);
    });

    it.each(['awaitHolders', 'close'] as const)(
      'grants nothing after shutdownTimeout, from %s on',
      async ({ backend, locks, name }, step) => {
        const ending = backend.service({ shutdownTimeout: 0 });
        const lock = await ending.acquire(name);
        const ended = aborted(lock.signal).then(() => lock.release());
        await ending[step]();
        await ended;

        expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'shutdown' });
        await expect(ending.acquire(`${name}+`)).rejects.toBeInstanceOf(LockClosedError);
        await ending.close();
        await isFree(locks, name);
      },
    );

    it('notifies holders that do not end, by their signal', async ({ locks }) => {
      const { lock, closed } = lingering;
      const ended = aborted(lock.signal).then(() => lock.release());
      await closed;
      await ended;

      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
      await isFree(locks, 'lingering');
    });

    it('grants a free lock that was requested before it began', async ({ backend, locks, name }) => {
      const ending = backend.service();
      // So that its connection is there.
      await ending.using(name, () => undefined);
      const working = ending.using(name, ({ held }) => held);
      await ending.close();

      expect(await working).toBe(true);
      await isFree(locks, name);
    });

    it.each(['used before', 'never used'])(
      'gives every later call on an instance %s the reason',
      async ({ backend, capabilities, locks, name }, use) => {
        const ending = backend.service();
        const transfer = capabilities.detaches ? await (await locks.acquire(`${name}-`)).detach() : undefined;
        if (use === 'used before') await ending.using(name, () => undefined);
        await ending.close();

        const outcomes = await outcomesOf(ending, name, capabilities, transfer);
        expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['acquire', 'query', 'forceRelease']));
        expect(Object.entries(outcomes).filter(([, outcome]) => !CLOSED.test(outcome))).toEqual([]);
      },
    );

    it('may be called twice, and on an instance that was never used', async ({ backend }) => {
      const ending = backend.service();

      await expect(Promise.all([ending.close(), ending.close()])).resolves.toBeDefined();
    });
  });
}
