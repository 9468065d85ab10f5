import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import type { LockService } from '../../../lib/service/lock.service.js';
import { untilCollected } from '../../support/collect-garbage.js';
import { waitFor } from '../../support/wait-for.js';
import type { ContractContext } from '../lock-backend.js';

/** Stands for a request: what a tracing agent keeps by async context. */
const requests = new AsyncLocalStorage<object>();

/** Ends what a call has left open. */
type CleanUp = () => unknown;

/** A call whose caller has its answer when the Promise resolves. */
type Call = (locks: LockService, name: string) => Promise<CleanUp | void>;

const RUNS = 20;

/** Number of names after which each of three nodes has served one, except once in 43,000 times. */
const NAMES = 27;

/** The calls that open the connections for commands and for listening. */
const CONNECTING = /first call|in vain|inspected/;

const timers: NodeJS.Timeout[] = [];

/** Schedules a call for after the test, as work may do that polls once an hour. */
function inAnHour(call: () => void): void {
  timers.push(setTimeout(call, 3_600_000).unref());
}

const ignored = (): undefined => undefined;

const CALLS: readonly (readonly [string, Call])[] = [
  ['a first call has opened the connection', async (locks, name) => locks.using(name, ignored)],
  [
    'its hold is renewed',
    async (locks, name) => {
      const lock = await locks.acquire(name, { ttl: 300 });
      return () => lock.release();
    },
  ],
  [
    'a hold of several names is renewed',
    async (locks, name) => {
      const lock = await locks.acquire([name, `${name}:b`], { ttl: 300 });
      return () => lock.release();
    },
  ],
  [
    'its campaign runs',
    async (locks, name) => {
      const end = new AbortController();
      void locks.lead(name, () => new Promise(ignored), { signal: end.signal });
      await waitFor(async () => (await locks.query(name)).held.length > 0);
      return () => end.abort();
    },
  ],
  [
    'its campaign waits',
    async (locks, name) => {
      const end = new AbortController();
      const lock = await locks.acquire(name);
      const campaign = locks.lead(name, ignored, { signal: end.signal });
      return async () => {
        end.abort();
        await Promise.all([campaign, lock.release()]);
      };
    },
  ],
  [
    'it has waited in vain',
    async (locks, name) => {
      const lock = await locks.acquire(name);
      await locks.acquire(name, { wait: 30, reentrant: false }).catch(ignored);
      return () => lock.release();
    },
  ],
  [
    'it has inspected the locks',
    async (locks, name) => {
      await locks.query(name);
      await locks.forceRelease(name);
      await locks.checkHealth(1_000);
      await locks.measureRoundTrip();
    },
  ],
];

const shared: Call = async (locks, name) => {
  const lock = await locks.acquire(name, { ttl: 300, mode: 'shared' });
  return () => lock.release();
};

const attached: Call = async (locks, name) => {
  const detached = await (await locks.acquire(name)).detach();
  const lock = await locks.attach(detached, { ttl: 300 });
  return () => lock.release();
};

/** The work under a lock, with a timer that outlives it. */
const WORK: readonly (readonly [string, Call])[] = [
  ['one name', async (locks, name) => locks.using(name, () => inAnHour(ignored))],
  ['several names', async (locks, name) => locks.using([name, `${name}:b`], () => inAnHour(ignored))],
  [
    'a nested call',
    async (locks, name) => locks.using(name, () => locks.using(name, () => inAnHour(ignored))),
  ],
  [
    'a hold that its work has released',
    async (locks, name) =>
      locks.using(name, async (lock) => {
        inAnHour(ignored);
        await lock.release();
      }),
  ],
  [
    'a leader',
    async (locks, name) => {
      const end = new AbortController();
      await locks.lead(name, () => (inAnHour(ignored), end.abort()), { signal: end.signal });
    },
  ],
  [
    'a lost hold',
    async (locks, name) => {
      const work = async (): Promise<void> => {
        inAnHour(ignored);
        await locks.forceRelease(name);
      };
      await locks.using(name, work).catch(ignored);
    },
  ],
];

const detached: Call = async (locks, name) => {
  const string = await locks.using(name, async (lock) => (inAnHour(ignored), lock.detach()));
  await (await locks.attach(string)).release();
};

/** Makes a call for a request that nothing else refers to. */
async function callIn(
  call: Call,
  locks: LockService,
  name: string,
): Promise<readonly [WeakRef<object>, CleanUp | void]> {
  const request = {};
  const cleanUp = await requests.run(request, () => call(locks, name));
  return [new WeakRef(request), cleanUp];
}

/** Returns where sockets were opened in the async context of a request while `work` ran. */
async function socketsOfRequests(work: () => Promise<void>): Promise<string[]> {
  const opened: string[] = [];
  const hook = createHook({
    init: (_, type) => {
      if (/^(TCP|PIPE)WRAP$/.test(type) && requests.getStore()) opened.push(new Error(type).stack ?? type);
    },
  }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return opened;
}

/** What keeps objects alive by the async context in which a call was made. */
export function describeKeptContexts({ it, capabilities }: ContractContext): void {
  const { detaches } = capabilities;
  describe('the memory of async contexts', () => {
    afterEach(() => timers.splice(0).forEach((timer) => clearTimeout(timer)));

    const calls = [...CALLS];
    if (capabilities.shares) calls.push(['a shared hold is renewed', shared]);
    if (detaches) calls.push(['an attached hold is renewed', attached]);
    it.each(calls)('drops the context of a caller while %s', async ({ backend, name }, _, call) => {
      const [request, cleanUp] = await callIn(call, backend.service(), name);
      try {
        await untilCollected([request]);
      } finally {
        await cleanUp?.();
      }
    });

    // A connection lives longer than the caller whose request opened it.
    it.each(calls.filter(([what]) => CONNECTING.test(what)))(
      'opens no socket in the context of a caller while %s',
      async ({ backend, name }, _, call) => {
        const locks = backend.service();
        const opened = await socketsOfRequests(async () => {
          // On a Cluster, the names lead to different nodes.
          for (let i = 0; i < NAMES; i++) {
            const [, cleanUp] = await callIn(call, locks, `${name}:${i}`);
            await cleanUp?.();
          }
        });
        expect(opened).toEqual([]);
      },
    );

    const works = detaches ? [...WORK, ['a detached hold', detached] as const] : WORK;
    it.each(works)(
      'drops the lock of %s while a timer of its work is pending',
      async ({ locks, name }, _, call) => {
        const seen: WeakRef<object>[] = [];
        const watched = Object.create(locks, {
          using: {
            value: (key: never, work: (lock: object) => unknown) =>
              locks.using(key, (lock) => (seen.push(new WeakRef(lock)), work(lock)) as never),
          },
          lead: {
            value: (key: never, work: (lock: object) => unknown, options: never) =>
              locks.lead(key, (lock) => (seen.push(new WeakRef(lock)), work(lock)), options),
          },
          // Private fields belong to the service itself.
          attach: { value: locks.attach.bind(locks) },
        }) as LockService;
        await call(watched, name);

        expect(seen.length).toBeGreaterThan(0);
        await untilCollected(seen);
      },
    );

    it.each<[string, (locks: LockService, name: string, run: () => Promise<void>) => Promise<void>]>([
      ['of its own', (_locks, _name, run) => run()],
      ['nested in an outer hold', (locks, name, run) => locks.using(name, run)],
    ])(
      'drops earlier runs of work that schedules its next run while it holds a lock %s',
      async ({ locks, name }, _, within) => {
        const runs: WeakRef<object>[] = [];
        const poll = async (over: EventEmitter): Promise<void> => {
          await locks.using(name, async (lock) => {
            runs.push(new WeakRef(lock));
            if (runs.length === RUNS) return inAnHour(ignored);
            setTimeout(() => void poll(over).catch((error: unknown) => over.emit('error', error)), 1);
            // Every other run is still at work when the next one begins.
            if (runs.length % 2 === 0) await new Promise((next) => void setTimeout(next, 5));
          });
          if (runs.length === RUNS) over.emit('end');
        };
        await within(locks, name, async () => {
          const over = new EventEmitter();
          const ended = once(over, 'end');
          await poll(over);
          await ended;
        });

        await untilCollected(runs);
      },
    );
  });
}
