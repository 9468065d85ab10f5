import { waitFor } from '../../support/wait-for.js';
import type { ContractContext } from '../lock-backend.js';
import { isQueued } from '../observe.js';

const MINUTE = 60_000;

/** What becomes of leases and queues when the clock of the servers is set back. */
export function describeClocks({ it, capabilities }: ContractContext): void {
  const { shares } = capabilities;
  const modes = shares ? (['exclusive', 'shared'] as const) : (['exclusive'] as const);
  describe('after the clock of the servers was set back', () => {
    it.steadily(300).each(modes)(
      'renewal shortens a lease that lasts too long (%s)',
      async ({ backend, locks, others, name }, mode) => {
        // The renewal comes after a second: before it, the lease lasts too long.
        const lock = await locks.acquire(name, { mode, ttl: 3_000 });
        await backend.setClockBack(MINUTE);
        expect(await remaining()).toBeGreaterThan(MINUTE - 1_000);

        await waitFor(async () => (await remaining()) <= 3_100, { that: 'the lease to be put right' });
        await lock.extend();
        expect(lock.held).toBe(true);
        await lock.release();

        async function remaining(): Promise<number> {
          return (await others.query(name)).held[0]?.remaining ?? 0;
        }
      },
    );

    it.each(modes)(
      'earlier waiters are served before later ones (%s)',
      async ({ backend, locks, others, name }, mode) => {
        const later = backend.service();
        // Its connections are made, and it knows the servers' clocks.
        await later.using(`${name}:first`, () => undefined);
        const order: string[] = [];
        const lock = await locks.acquire(name);
        const waiting = others.using(name, { mode, limit: mode === 'shared' ? 1 : undefined }, () => {
          order.push('earlier');
        });
        await isQueued(locks, name, 1);
        await backend.setClockBack(MINUTE);
        const next = later.using(name, () => void order.push('later'));
        await isQueued(locks, name, 2);
        await lock.release();
        await Promise.all([waiting, next]);

        expect(order).toEqual(['earlier', 'later']);
      },
    );
  });
}
