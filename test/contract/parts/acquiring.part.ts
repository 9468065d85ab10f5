import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import { waitFor } from '../../support/wait-for.js';
import { BEARABLE, IN_VAIN, isQueued } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** Trying, waiting for a while, waiting for ever; in which order callers come. */
export function describeAcquiring({ it, capabilities }: ContractContext): void {
  const { ordersInstances } = capabilities;
  describe('acquiring', () => {
    it('grants a free lock at once (row 3)', async ({ locks, name }) => {
      await using lock = await locks.acquire(name);

      expect(lock.keys).toEqual([name]);
      expect(lock.held).toBe(true);
    });

    it('resolves tryAcquire to a free lock, and to undefined for a taken one (row 3)', async (context) => {
      const { locks, others, name } = context;
      await using lock = await locks.tryAcquire(name);

      expect(lock?.held).toBe(true);
      expect(await locks.tryAcquire(name)).toBeUndefined();
      expect(await others.tryAcquire(name)).toBeUndefined();
    });

    it('leaves nothing behind in the queue when an attempt finds the lock taken', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name);
      await others.tryAcquire(name);

      expect((await locks.query(name)).pending).toEqual([]);
      await lock.release();
      expect((await locks.query(name)).held).toEqual([]);
    });

    it('makes a single attempt with wait: 0 (row 3)', async ({ locks, others, name }) => {
      await using _ = await locks.acquire(name);

      await expect(others.acquire(name, { wait: 0 })).rejects.toBeInstanceOf(LockTimeoutError);
    });

    it.steadily(BEARABLE).each(['locks', 'others'] as const)(
      'waits no longer than wait for a lock held by %s (row 3)',
      async (context, holder) => {
        const { locks, name } = context;
        const lock = await context[holder].acquire(name);
        const startedAt = performance.now();
        const error = await locks.acquire(name, { wait: IN_VAIN }).catch((reason: unknown) => reason);
        const took = performance.now() - startedAt;

        expect(error).toBeInstanceOf(LockTimeoutError);
        expect(took).toBeGreaterThan(IN_VAIN - 5);
        await lock.release();
        await waitFor(async () => (await locks.query(name)).pending.length === 0);
        expect(await locks.tryAcquire(name).then((each) => each?.release())).toBeUndefined();
      },
    );

    it.each(['locks', 'others'] as const)(
      'ends a short wait on time behind a long one, for a lock held by %s',
      async (context, holder) => {
        const { locks, name } = context;
        const lock = await context[holder].acquire(name);
        const patient = locks.acquire(name, { wait: 60_000 });
        await isQueued(locks, name, holder === 'locks' ? 0 : 1);
        const startedAt = performance.now();
        await expect(locks.acquire(name, { wait: IN_VAIN })).rejects.toBeInstanceOf(LockTimeoutError);
        const took = performance.now() - startedAt;

        expect(took).toBeGreaterThan(IN_VAIN - 5);
        // The timer of the first wait would ring in a minute.
        expect(took).toBeLessThan(20_000);
        await lock.release();
        expect((await patient).held).toBe(true);
        await (await patient).release();
      },
    );

    it.each([
      ['locks', 20_000],
      ['others', 20_000],
      ['others', Infinity],
    ] as const)(
      'waits for a lock held by %s until it is released, with wait: %d (row 3)',
      async (context, holder, wait) => {
        const { locks, name } = context;
        const lock = await context[holder].acquire(name);
        const waiting = locks.acquire(name, { wait });
        await isQueued(locks, name, holder === 'locks' ? 0 : 1);
        await lock.release();
        const next = await waiting;

        expect(next.held).toBe(true);
        expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
        expect((await locks.query(name)).held[0]?.fencingToken).toBe(next.fencingToken);
        await next.release();
      },
    );

    it('serves callers of one instance in arrival order', async ({ locks, others, name }) => {
      const order: number[] = [];
      const lock = await others.acquire(name);
      const callers = Array.from({ length: 40 }, (_, i) => locks.using(name, () => void order.push(i)));
      await isQueued(locks, name, 1);
      await lock.release();
      await Promise.all(callers);

      expect(order).toEqual(order.toSorted((a, b) => a - b));
      expect(order).toHaveLength(40);
    });

    const inOrder = ordersInstances
      ? 'in the order in which they queued'
      : 'in whatever order (none is promised)';
    it(`serves instances ${inOrder}`, async ({ backend, locks, name }) => {
      const lock = await locks.acquire(name);
      const instances = [backend.service(), backend.service(), backend.service()];
      const order: number[] = [];
      const waits: Promise<void>[] = [];
      for (const [i, instance] of instances.entries()) {
        waits.push(instance.using(name, () => void order.push(i)));
        await isQueued(locks, name, i + 1);
      }
      await lock.release();
      await Promise.all(waits);

      expect(ordersInstances ? order : order.toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
    });

    it('never grants a lock to two callers at the same time, in the same or in different instances', async (context) => {
      const { locks, others, name } = context;
      let inside = 0;
      let most = 0;
      const work = async (): Promise<void> => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => void setImmediate(resolve));
        inside -= 1;
      };
      await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 ? locks : others).using(name, work)));

      expect(most).toBe(1);
    });

    it('resolves tryAcquire to undefined behind maxWaiters callers', async (context) => {
      const { locks, name } = context;
      const options = { maxWaiters: 1 };
      const first = locks.acquire(name);
      const attempts = [
        locks.tryAcquire(name, options),
        locks.tryAcquire([name, `${name}:other`], options),
        ...(capabilities.shares ? [locks.tryAcquire(name, { ...options, mode: 'shared' })] : []),
      ];

      expect(await Promise.all(attempts)).toEqual(attempts.map(() => undefined));
      await (await first).release();
    });

    it('rejects at once behind maxWaiters callers, by the number of the call, a preset or the module', async (context) => {
      const { backend, others, name } = context;
      const small = backend.service({ maxWaiters: 2, presets: { urgent: { maxWaiters: 3 } } });
      const lock = await others.acquire(name);
      const waiting = [small.acquire(name), small.acquire(name)];
      const refusal = { name: 'LockQueueFullError', code: 'LOCK_QUEUE_FULL', keys: [name] };

      await expect(small.acquire(name)).rejects.toMatchObject(refusal);
      waiting.push(small.acquire(name, { preset: 'urgent' }));
      await expect(small.acquire(name, { preset: 'urgent' })).rejects.toMatchObject(refusal);
      waiting.push(small.acquire(name, { maxWaiters: Infinity }));
      await lock.release();
      for (const each of waiting) await (await each).release();
    });

    it('does not block one name by the lock of another', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name);
      const other = await others.tryAcquire(`${name}:other`);

      expect(other?.held).toBe(true);
      await Promise.all([lock.release(), other?.release()]);
    });

    it('accepts any name of up to 512 bytes, and distinguishes all names', async ({ locks, name }) => {
      const names = [`${name} ä 😀 "x" {y} *?[`, `${name}:q`, `${name}}`, `${name}${'x'.repeat(480)}`];
      for (const each of names) {
        await using _ = await locks.acquire(each);
        expect((await locks.query(each)).held).toHaveLength(1);
        expect((await locks.query(name)).held).toEqual([]);
      }
    });

    it('hands a name with special characters from one instance to another', async (context) => {
      const { locks, others } = context;
      const name = `${context.name} ä 😀 {y}:"z" %s`;
      const lock = await locks.acquire(name);
      const next = others.acquire(name);
      await isQueued(locks, name, 1);
      await lock.release();

      expect((await next).keys).toEqual([name]);
      await (await next).release();
    });
  });
}
