import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { LockClosedError } from '../../../lib/errors/lock.error.js';
import { aborted, isFree, isWaiting } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** The end of an instance. */
export function describeShutdown(context: ContractContext): void {
  let lingering: { readonly lock: Lock; readonly closed: Promise<void> };

  // Ahead of the tests of all parts, since holders have seconds to end.
  beforeAll(async () => {
    const ending = context.backend.service();
    const lock = await ending.acquire('lingering');
    lingering = { lock, closed: ending.close() };
  });

  describe('shutdown', () => {
    it('rejects new and waiting callers, in this instance and in the store’s queue', async () => {
      const { backend, locks, name } = context;
      const ending = backend.service();
      const lock = await locks.acquire(name);
      const waits = [ending.acquire(name), ending.acquire(name)].map((wait) =>
        wait.catch((error: unknown) => error),
      );
      await isWaiting(context, 1);
      ending.beginShutdown();

      for (const refused of await Promise.all(waits)) {
        expect(refused).toBeInstanceOf(LockClosedError);
        expect(refused).toMatchObject({ code: 'LOCK_CLOSED', keys: [name] });
      }
      await expect(ending.acquire(name)).rejects.toBeInstanceOf(LockClosedError);
      await expect(ending.tryAcquire(name)).rejects.toBeInstanceOf(LockClosedError);
      await isWaiting(context, 0);
      await lock.release();
      await ending.close();
    });

    it('lets holders end their work', async () => {
      const { backend, locks, name } = context;
      const ending = backend.service();
      const lock = await ending.acquire(name);
      ending.beginShutdown();
      expect(lock.held).toBe(true);
      const closed = ending.close();
      await lock.release();
      await closed;

      await isFree(locks, name);
    });

    it('notifies holders that do not end, by their signal', async () => {
      const { lock, closed } = lingering;
      const ended = aborted(lock.signal).then(() => lock.release());
      await closed;
      await ended;

      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
      await isFree(context.locks, 'lingering');
    });

    it('gives holders the time that shutdownTimeout says', async () => {
      const { backend, locks, name } = context;
      const ending = backend.service({ shutdownTimeout: 0 });
      const lock = await ending.acquire(name);
      const ended = aborted(lock.signal).then(() => lock.release());
      await ending.close();
      await ended;

      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'shutdown' });
      await isFree(locks, name);
    });

    it('releases locks whose grants are on their way', async () => {
      const { backend, locks, name } = context;
      const ending = backend.service();
      // So that its connection is there.
      await ending.using(name, () => undefined);
      const asking = ending.acquire(name).catch((error: unknown) => error);
      await ending.close();

      expect(await asking).toBeInstanceOf(LockClosedError);
      await isFree(locks, name);
    });

    it('may be called twice, and on an instance that was never used', async () => {
      const ending = context.backend.service();

      await expect(Promise.all([ending.close(), ending.close()])).resolves.toBeDefined();
    });
  });
}
