import type { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { ListOptions } from '../../../lib/options/list-options.js';
import { listed } from '../../support/listed.js';
import { waitFor } from '../../support/wait-for.js';
import { isQueued } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

async function labelsOf(locks: LockService, name: string): Promise<readonly (string | undefined)[]> {
  const { held } = await locks.query(name);
  return held.map(({ label }) => label);
}

/** What an instance that does not answer in time, on a busy machine, says at last. */
function isTold(locks: LockService, name: string, label: string): Promise<unknown> {
  return waitFor(async () => (await labelsOf(locks, name)).includes(label), {
    timeout: 25_000,
    that: `the label ${label}`,
  });
}

/** list, holds and labels. */
export function describeListing({ it, capabilities }: ContractContext): void {
  if (!capabilities.lists) {
    it('list rejects, because no request reaches all shards', async ({ locks }) => {
      await expect(listed(locks)).rejects.toMatchObject({ code: 'LOCK_CONFIG' });
    });
  }
  const describeList = (parts: () => void): void => {
    if (capabilities.lists) describe('list', parts);
  };
  describeList(() => {
    it('lists every held name of any holder, and no free one', async ({ locks, others, name }) => {
      await using lock = await locks.acquire(`${name}:a`, { ttl: 20_000 });
      await using other = await others.acquire(`${name}:b`);
      await (await locks.acquire(`${name}:c`)).release();
      const listings = await listed(locks, { prefix: name });

      expect(listings).toEqual([
        {
          name: `${name}:a`,
          mode: 'exclusive',
          owner: expect.stringMatching(/^.+-\d+-v1-[0-9a-f]+:\d+$/),
          since: expect.any(Date),
          holders: 1,
          remaining: expect.any(Number),
          waiting: 0,
        },
        expect.objectContaining({ name: `${name}:b` }),
      ]);
      expect(listings[0]?.owner).toMatch(new RegExp(`:${lock.fencingToken}$`));
      expect(listings[1]?.owner).toMatch(new RegExp(`:${other.fencingToken}$`));
      expect(listings[0]?.remaining).toBeLessThanOrEqual(20_000);
      expect(listings[0]?.since?.getTime()).toBe(Math.floor(lock.fencingToken / 1_000));
    });

    if (capabilities.shares)
      it('counts the holders of a name and the waiting instances', async (context) => {
        const { backend, locks, others, name } = context;
        const readers = await Promise.all(
          [locks, locks, others].map((each) => each.acquire(name, { mode: 'shared' })),
        );
        const writer = backend.service().acquire(name);
        await isQueued(locks, name, 1);

        expect(await listed(locks, { prefix: name })).toEqual([
          { name, mode: 'shared', owner: 'shared', holders: 3, remaining: expect.any(Number), waiting: 1 },
        ]);
        await Promise.all(readers.map((reader) => reader.release()));
        const lock = await writer;
        const [listing] = await waitFor(
          async () => {
            const listings = await listed(locks, { prefix: name });
            return listings[0]?.mode === 'exclusive' && listings;
          },
          { that: 'the writer holds it' },
        );
        expect(listing).toMatchObject({ mode: 'exclusive', holders: 1, waiting: 0 });
        await lock.release();
      });

    it('treats special characters in a prefix literally', async ({ locks, name }) => {
      const odd = [
        `${name}:*[a-z]?\\:1`,
        `${name}:*[a-z]?\\:2}x`,
        `${name}:a`,
        `${name}:x}:q`,
        `${name}:é😀`,
      ];
      await using _ = await locks.acquire(odd);
      const names = async (prefix: string): Promise<string[]> =>
        (await listed(locks, { prefix })).map((each) => each.name).toSorted();

      expect(await names(name)).toEqual(odd.toSorted());
      expect(await names(`${name}:*[a-z]?\\:`)).toEqual(odd.slice(0, 2));
      expect(await names(`${name}:[a-z]`)).toEqual([]);
      expect(await names(`${name}:é`)).toEqual([odd[4]]);
      expect(await names(`${name}:x}`)).toEqual([odd[3]]);
    });

    it('ends with its limit, with the loop that reads it, and with the last of many', async (context) => {
      const { backend, name } = context;
      // What a busy node of a quorum answers too late is asked again, in a row that grows.
      const locks = backend.service({ nodeTimeout: 5_000 });
      const names = Array.from({ length: 600 }, (_, i) => `${name}:${i}`);
      const held: Lock[] = [];
      for (let i = 0; i < names.length; i += 50) {
        const some = names.slice(i, i + 50);
        held.push(...(await Promise.all(some.map((each) => locks.acquire(each, { ttl: 60_000 })))));
      }

      expect(await listed(locks, { prefix: name, limit: 7 })).toHaveLength(7);
      for await (const listing of locks.list({ prefix: name })) {
        expect(listing.name).toContain(name);
        break;
      }
      expect(new Set((await listed(locks, { prefix: name })).map((each) => each.name))).toEqual(
        new Set(names),
      );
      await Promise.all(held.map((lock) => lock.release()));
    });

    it.each([
      [{ prefix: 1 }, /prefix must be a string/],
      [{ limit: 0 }, /limit must be a whole number/],
      [{ beginning: 'a' }, /no option beginning/],
    ])('rejects the options %j', async ({ locks }, options, message) => {
      const listing = listed(locks, options as ListOptions);

      await expect(listing).rejects.toMatchObject({ code: 'LOCK_CONFIG' });
      await expect(listing).rejects.toThrow(message);
    });
  });

  describe('holds', () => {
    it('lists the holds of this instance only', async ({ backend, others, name }) => {
      const locks = backend.service();
      const before = Date.now();
      const lock = await locks.acquire(name, { ttl: 20_000 });
      const another = await others.acquire(`${name}:other`);

      expect(locks.holds()).toEqual([
        {
          name,
          mode: 'exclusive',
          label: undefined,
          method: undefined,
          template: undefined,
          since: expect.any(Date),
          age: expect.any(Number),
          remaining: expect.any(Number),
          waiting: 0,
          fencingToken: lock.fencingToken,
        },
      ]);
      const [hold] = locks.holds();
      expect(hold?.since.getTime()).toBeGreaterThanOrEqual(before - 1);
      expect(hold?.since.getTime()).toBeLessThanOrEqual(Date.now() + 1);
      expect(hold?.age).toBeGreaterThanOrEqual(0);
      expect(hold?.remaining).toBeLessThanOrEqual(20_000);
      await Promise.all([lock.release(), another.release()]);
      expect(locks.holds()).toEqual([]);
    });

    if (capabilities.shares)
      it('lists shared holds and the names of one call one by one, and counts local waiters', async (context) => {
        const { backend, name } = context;
        const locks = backend.service();
        const readers = [
          await locks.acquire(`${name}:r`, { mode: 'shared' }),
          await locks.acquire(`${name}:r`, { mode: 'shared' }),
        ];
        const both = await locks.acquire([`${name}:x`, `${name}:y`]);
        const waiting = locks.acquire(`${name}:r`);

        const told = locks.holds().map((hold) => [hold.name, hold.mode, hold.waiting]);
        expect(told.toSorted((a, b) => String(a[0]).localeCompare(String(b[0])))).toEqual([
          [`${name}:r`, 'shared', 1],
          [`${name}:r`, 'shared', 1],
          [`${name}:x`, 'exclusive', 0],
          [`${name}:y`, 'exclusive', 0],
        ]);
        await Promise.all(readers.map((reader) => reader.release()));
        const writer = await waiting;
        await both.release();
        expect(locks.holds()).toMatchObject([{ name: `${name}:r`, mode: 'exclusive', waiting: 0 }]);
        await writer.release();
      });

    it('lists no lost hold', async ({ backend, locks: operator, name }) => {
      const locks = backend.service();
      await using lock = await locks.acquire(name);
      await operator.forceRelease(name);
      await waitFor(() => !lock.held, { that: 'the hold is lost' });

      expect(locks.holds()).toEqual([]);
    });
  });

  describe('a label', () => {
    it('shows the label in query, list and holds, here and elsewhere', async (context) => {
      const { locks, others, name } = context;
      await using _ = await locks.acquire(name, { label: 'nightly “report” 🌙' });

      expect(await labelsOf(locks, name)).toEqual(['nightly “report” 🌙']);
      await isTold(others, name, 'nightly “report” 🌙');
      await waitFor(
        async () =>
          !capabilities.lists || (await listed(others, { prefix: name }))[0]?.label === 'nightly “report” 🌙',
        {
          timeout: 25_000,
          that: 'the label in the list',
        },
      );
      expect(locks.holds().filter((hold) => hold.name === name)).toMatchObject([
        { label: 'nightly “report” 🌙' },
      ]);
    });

    it.each(['locks', 'others'] as const)(
      'is in the timeout of a caller that waited for a hold of %s',
      async (context, holder) => {
        const { locks, name } = context;
        await using _ = await context[holder].acquire(name, { label: 'the holder' });
        for (const wait of [0, 40])
          await waitFor(
            async () => {
              const error: unknown = await locks
                .acquire(name, { wait, outageTimeout: 10_000 })
                .catch((e: unknown) => e);
              expect(error).toMatchObject({ code: 'LOCK_TIMEOUT', keys: [name] });
              return (error as LockTimeoutError).holder?.label === 'the holder';
            },
            { timeout: 25_000, that: 'the label of the holder' },
          );
        expect(await locks.tryAcquire(name)).toBeUndefined();
      },
    );

    it('is the label of the hold that was passed on in memory', async ({ locks, others, name }) => {
      const first = await locks.acquire(name, { label: 'first' });
      const next = locks.acquire(name, { label: 'second' });
      await isTold(others, name, 'first');
      await first.release();
      const second = await next;
      await isTold(others, name, 'second');
      await second.release();
    });

    if (capabilities.shares)
      it('is shown for names that were acquired together, and for each shared hold', async (context) => {
        const { locks, others, name } = context;
        const both = await locks.acquire([`${name}:a`, `${name}:b`], { label: 'both' });
        await isTold(others, `${name}:b`, 'both');
        const readers = await Promise.all(
          [1, 2].map((i) => locks.acquire(name, { mode: 'shared', label: `reader ${i}` })),
        );
        await isTold(others, name, 'reader 2');
        expect(new Set(await labelsOf(locks, name))).toEqual(new Set(['reader 1', 'reader 2']));
        await Promise.all([both, ...readers].map((lock) => lock.release()));
      });
  });
}
