import { isLockError } from '../../../lib/errors/lock.error.js';
import { BEARABLE, IN_VAIN, isFree } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** What a caller is told when it gets no lock. */
export function describeErrors({ it }: ContractContext): void {
  describe('errors', () => {
    it.steadily(BEARABLE).each(['locks', 'others'] as const)(
      'name the holder and the time of the wait, holder %s',
      async (context, holder) => {
        const { locks, name } = context;
        await using _ = await context[holder].acquire(name, { ttl: 20_000 });
        const owner = (await locks.query(name)).held[0]?.owner;
        const error: unknown = await locks
          .acquire(name, { wait: IN_VAIN })
          .catch((reason: unknown) => reason);

        expect(isLockError(error)).toBe(true);
        expect(error).toMatchObject({
          name: 'LockTimeoutError',
          code: 'LOCK_TIMEOUT',
          keys: [name],
          holder: { owner, remaining: expect.any(Number) },
        });
        const { waited, holder: found } = error as { waited: number; holder: { remaining: number } };
        expect(waited).toBeGreaterThanOrEqual(IN_VAIN - 1);
        expect(found.remaining).toBeLessThanOrEqual(20_000);
        expect(found.remaining).toBeGreaterThan(10_000);
      },
    );

    it.steadily(BEARABLE)(
      'advise a retry after the wait of the caller, whatever its renew, if the holder renews its lease',
      async (context) => {
        const { locks, others, name } = context;
        for (const holder of [locks, others]) {
          await using _ = await holder.acquire(name, { ttl: 20_000 });
          const waiting = locks.acquire(name, { wait: IN_VAIN, renew: false });
          await expect(waiting).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', retryAfter: 1_000 });
        }
      },
    );

    it('advise a retry after the lease of a holder in this process that does not renew it', async (context) => {
      const { locks, name } = context;
      await using _ = await locks.acquire(name, { ttl: 20_000, renew: false });
      const error: unknown = await locks.acquire(name, { wait: IN_VAIN }).catch((reason: unknown) => reason);
      const { retryAfter } = error as { retryAfter: number };
      expect(retryAfter).toBeGreaterThan(10_000);
      expect(retryAfter).toBeLessThanOrEqual(20_000);
    });

    it.steadily(40)('report to each caller how long it waited', async ({ locks, others, name }) => {
      await using _ = await others.acquire(name);
      const waits = [IN_VAIN + 90, IN_VAIN, IN_VAIN + 45];
      const waited = await Promise.all(
        waits.map((wait) => locks.acquire(name, { wait }).catch((error: { waited: number }) => error.waited)),
      );

      for (const [i, wait] of waits.entries()) expect(waited[i]).toBeGreaterThanOrEqual(wait - 1);
      expect(waited[1]).toBeLessThan(Number(waited[0]));
    });

    it('reject more than 256 names, without a request', async ({ locks, name }) => {
      const some = (count: number): string[] => Array.from({ length: count }, (_, i) => `${name}:${i}`);

      const refusal = {
        code: 'LOCK_KEY',
        message: expect.stringContaining('The call names 257 locks, and one call takes at most 256.'),
      };

      await expect(locks.acquire(some(257))).rejects.toMatchObject(refusal);
      await expect(locks.tryAcquire(some(257))).rejects.toMatchObject(refusal);
      await expect(locks.using(some(257), () => undefined)).rejects.toMatchObject(refusal);
      await isFree(locks, `${name}:0`);

      await (await locks.acquire([...some(2), ...some(255)])).release();
    });

    it.steadily(BEARABLE)(
      'depend on the defaults of the module unless the call overrides them',
      async (context) => {
        const { backend, others, name } = context;
        const hasty = backend.service({ wait: IN_VAIN });
        // So that the wait is not spent on connecting.
        await hasty.query(name);
        await using _ = await others.acquire(name);
        const error = await hasty.acquire(name).catch((reason: { waited: number }) => reason);

        expect(error).toMatchObject({ code: 'LOCK_TIMEOUT' });
        expect((error as { waited: number }).waited).toBeLessThan(5_000);
      },
    );
  });
}
