import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { aborted } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** Who made the call that the running code belongs to. */
const callers = new AsyncLocalStorage<string>();

/** Works under a lock of a name, which is lost soon; ends when that is over. */
type LosingWork = (locks: LockService, name: string, work: (lock: Lock) => Promise<void>) => Promise<unknown>;

const maxHold = 300;

const WORK_BY: readonly (readonly [string, LosingWork])[] = [
  ['one name', (locks, name, work) => locks.using(name, { maxHold }, work)],
  ['several names', (locks, name, work) => locks.using([name, `${name}:b`], { maxHold }, work)],
  ['a nested call', (locks, name, work) => locks.using(name, { maxHold }, () => locks.using(name, work))],
  [
    'a leader',
    async (locks, name, work) => {
      const end = new AbortController();
      const leading = async (lock: Lock): Promise<void> => {
        await work(lock);
        end.abort();
      };
      await locks.lead(name, leading, { maxHold, signal: end.signal });
    },
  ],
];

const shared: LosingWork = (locks, name, work) => locks.using(name, { maxHold, mode: 'shared' }, work);

const attached: LosingWork = async (locks, name, work) => {
  const held = await locks.acquire(name);
  await using lock = await locks.attach(await held.detach(), { maxHold });
  await work(lock);
};

/** Whether an attempt gets a name that somebody is at work with: by reusing that hold. */
async function canReuse(locks: LockService, name: string): Promise<boolean> {
  const lock = await locks.tryAcquire(name);
  await lock?.release();
  return lock !== undefined;
}

/** In whose async context the code of users runs that locks call. */
export function describeAsyncContexts({ it, capabilities }: ContractContext): void {
  const { detaches, shares } = capabilities;
  describe('the async context', () => {
    const works: (readonly [string, LosingWork])[] = [...WORK_BY];
    if (shares) works.push(['a shared name', shared]);
    if (detaches) works.push(['an attached hold', attached]);

    it.each(works)(
      'of other callers is not passed to a listener for the loss of %s',
      async ({ backend, name }, _, run) => {
        const locks = backend.service();
        const busy = `${name}:busy`;
        const gate = new EventEmitter();
        const begun = once(gate, 'begin');
        const lost = callers.run('holder', async () => {
          await begun;
          let entered: Promise<boolean> | undefined;
          let caller: string | undefined;
          const work = async ({ signal }: Lock): Promise<void> => {
            gate.emit('enter');
            signal.addEventListener('abort', () => {
              caller = callers.getStore();
              entered = canReuse(locks, busy);
            });
            await aborted(signal);
          };
          await run(locks, name, work).catch(() => undefined);
          return { caller, entered: await entered };
        });
        await callers.run('stranger', () =>
          locks.using(busy, async () => {
            const entering = once(gate, 'enter');
            gate.emit('begin');
            await entering;
            // Whatever rings next was set by this call, nested in its hold.
            await locks.using(`${name}:brief`, { ttl: 150 }, () => undefined);
            const { caller, entered } = await lost;

            expect(caller).not.toBe('stranger');
            expect(entered).toBe(false);
          }),
        );
      },
    );

    it('of the first caller, or of forceRelease, is not passed to a listener for the loss', async (context) => {
      const { backend, others, name } = context;
      const locks = backend.service();
      await callers.run('stranger', () => locks.using(`${name}:first`, () => undefined));
      await using lock = await callers.run('holder', () => locks.acquire(name));
      const heard = new Promise((resolve) => {
        lock.signal.addEventListener('abort', () => resolve(callers.getStore()));
      });
      await callers.run('stranger', () => others.forceRelease(name));

      expect(await heard).not.toBe('stranger');
    });

    it('of the code that ends a campaign is not passed to the leader’s listener', async ({ locks, name }) => {
      const busy = `${name}:busy`;
      const end = new AbortController();
      let entered: Promise<boolean> | undefined;
      let caller: string | undefined;
      const campaign = callers.run('leader', () =>
        locks.lead(
          name,
          async ({ signal }) => {
            signal.addEventListener('abort', () => {
              caller = callers.getStore();
              entered = canReuse(locks, busy);
            });
            await locks.using(busy, () => callers.run('stranger', () => end.abort()));
          },
          { signal: end.signal },
        ),
      );
      await campaign;

      expect(caller).not.toBe('stranger');
      expect(await entered).toBe(false);
    });

    it.steadily(100)(
      'of a caller is not passed to subscribers of the channels of losses and renewals',
      async (context) => {
        const { backend, name } = context;
        const locks = backend.service();
        const told: unknown[] = [];
        const listener = (message: unknown): void => {
          const { names, acquire } = message as { names?: readonly string[]; acquire?: { name: string } };
          if (acquire?.name === name || names?.includes(name)) told.push(callers.getStore());
        };
        const channels = ['nest-redis-lock:hold:lost', 'nest-redis-lock:lease:renewal'];
        for (const channel of channels) subscribe(channel, listener);
        const lock = await callers.run('stranger', () => locks.acquire(name, { ttl: 600, maxHold: 800 }));
        await aborted(lock.signal);
        for (const channel of channels) unsubscribe(channel, listener);
        await lock.release();

        expect(told.length).toBeGreaterThan(1);
        expect(new Set(told)).toEqual(new Set([undefined]));
      },
    );
  });
}
