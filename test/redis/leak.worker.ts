import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isLockError } from '../../lib/errors/lock.error.js';
import { serveCalls } from '../support/serve-calls.js';
import { Instance } from './instance.js';

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

const [connection = ''] = process.argv.slice(2);
// A Redis that stands still for some seconds ends no call that has to succeed.
const open = (): Instance => new Instance({ connection, wait: 60_000, outageTimeout: 20_000 });
const [first, second] = [open(), open()];
const controller = new AbortController();
const CALLERS = 200;
/** Milliseconds of a lease that nobody releases: grants of 200 callers at a time arrive early in it. */
const FORGOTTEN = 500;

/** After so short a wait it may be that Redis has not even answered. */
const ignoreTimeout = (error: unknown): void => {
  if (!isLockError(error) || !['LOCK_TIMEOUT', 'LOCK_UNAVAILABLE'].includes(error.code)) throw error;
};

/** What callers do with a name that is used once in a lifetime. */
const ways = {
  uncontended: (name: string) => first.locks.using(name, () => undefined),
  async contended(name: string): Promise<void> {
    await Promise.all([first, second, first].map(({ locks }) => locks.using(name, () => undefined)));
  },
  async abandoned(name: string): Promise<void> {
    const lock = await first.locks.acquire(name, { signal: controller.signal });
    await Promise.all(
      [first, second].map(({ locks }) =>
        locks.acquire(name, { wait: 1 + Math.random() }).catch(ignoreTimeout),
      ),
    );
    await lock.release();
  },
  async aborted(name: string): Promise<void> {
    const lock = await second.locks.acquire(name);
    const aborter = new AbortController();
    const waits = [first, second].map(({ locks }) =>
      locks.acquire(name, { signal: aborter.signal }).catch(() => undefined),
    );
    await Promise.resolve();
    aborter.abort();
    await Promise.all([...waits, lock.release()]);
  },
  /** Readers of both, a writer, and one too many for the permits that are left. */
  async shared(name: string): Promise<void> {
    const readers = [first, second, first].map(({ locks }) =>
      locks.using(name, { mode: 'shared' }, () => undefined),
    );
    const writer = second.locks.using(name, () => undefined);
    const permits = [first, second].map(({ locks }) =>
      locks
        .using(name, { mode: 'shared', limit: 1, wait: 1 + Math.random() }, () => undefined)
        .catch(ignoreTimeout),
    );
    await Promise.all([...readers, writer, ...permits]);
  },
  /** Never released: its lease ends by itself. */
  async forgotten(name: string): Promise<void> {
    await first.locks.acquire(name, { ttl: FORGOTTEN, renew: false });
  },
  async forgottenByReaders(name: string): Promise<void> {
    const terms = { mode: 'shared', ttl: FORGOTTEN, renew: false } as const;
    await Promise.all([first, second].map(({ locks }) => locks.acquire(name, terms)));
  },
};

const calls = {
  async start(): Promise<void> {
    await Promise.all([first.warmUp(), second.warmUp()]);
  },
  async use(way: keyof typeof ways, prefix: string, names: number): Promise<void> {
    let next = 0;
    const caller = async (): Promise<void> => {
      while (next < names) await ways[way](`${prefix}:${way}:${next++}`);
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  },
  /** Names that somebody still holds or waits for, as the engines see it. */
  inUse: () => [first, second].map(({ engine }) => engine.size + engine.leases.size),
  left() {
    collectGarbage();
    return {
      heap: process.memoryUsage().heapUsed,
      waits: [first, second].map(({ engine }) => engine.queues.waits.size),
      signalListeners: getEventListeners(controller.signal, 'abort').length,
      resources: process.getActiveResourcesInfo().toSorted(),
    };
  },
};

export type LeakCalls = typeof calls;

serveCalls(calls);
