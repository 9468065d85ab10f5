import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { LockAcquireGranted } from '../../../lib/diagnostics/lock-events.interface.js';
import type { Lock, LockOptions, LockService } from '../../../lib/index.js';
import { serveCalls } from '../../support/serve-calls.js';
import { SeededRandom } from './seeded-random.js';
import { now } from './shared-clock.js';

/** What a call asks for: one name or several, alone or beside others. */
export interface Wish extends Pick<LockOptions, 'mode' | 'limit' | 'permits'> {
  readonly names: readonly string[];
}

export interface Crowd {
  readonly callers: number;
  readonly seed: number;
  readonly milliseconds: number;
  readonly wishes: readonly [Wish, ...Wish[]];
  /** Longest work, in milliseconds; below 0 there is none. */
  readonly work: number;
}

/** A hold of one name as its process saw it, in milliseconds on the clock that all processes share. */
export interface SeenHold {
  readonly caller: string;
  readonly name: string;
  /** Most holders beside which it may hold, itself among them; undefined where it is to be alone. */
  readonly limit: number | undefined;
  readonly permits: number | undefined;
  readonly token: number;
  readonly begin: number;
  readonly end: number;
}

/** Longer than any crowd contends: a waiter that gets no lock within it is stuck. */
const WAIT = 5_000;

let service: LockService | undefined;
const kept = new Map<string, Lock>();
/** How each lock was granted. */
const ways = new Map<string, string>();
const problems: string[] = [];

process.on('unhandledRejection', (reason) => problems.push(`unhandled rejection: ${String(reason)}`));
subscribe('nest-redis-lock:acquire:granted', (message) => {
  const { acquire, how } = message as LockAcquireGranted;
  ways.set(acquire.name, how);
});

function locks(): LockService {
  if (!service) throw new Error('Call open first');
  return service;
}

function keptLock(id: string): Lock {
  const lock = kept.get(id);
  if (!lock) throw new Error(`This process holds no ${id}`);
  return lock;
}

function ask({ names, mode, limit, permits }: Wish): Promise<Lock> {
  const options = { wait: WAIT, ...(mode && { mode }), ...(limit && { limit }), ...(permits && { permits }) };
  const [first = ''] = names;
  return locks().acquire(names.length > 1 ? [...names] : first, options);
}

/** Acquires, works and releases until the time is over. */
async function callOnAndOn(
  caller: string,
  seed: number,
  { wishes, work }: Crowd,
  end: number,
): Promise<SeenHold[]> {
  const random = new SeededRandom(seed);
  const holds: SeenHold[] = [];
  while (now() < end) {
    const wish = random.pick(wishes);
    const lock = await ask(wish);
    const begin = now();
    const pause = random.between(work < 0 ? work : -1, work);
    if (pause > 0) await sleep(pause);
    if (!lock.held) problems.push(`${caller} lost ${wish.names.join()}`);
    const limit = wish.mode === 'shared' ? (wish.limit ?? Infinity) : undefined;
    const until = now();
    for (const name of lock.keys)
      holds.push({
        caller,
        name,
        limit,
        permits: wish.permits,
        token: lock.fencingTokenOf(name),
        begin,
        end: until,
      });
    await lock.release();
  }
  return holds;
}

const calls = {
  /** Starts an application with the library of a revision. */
  async open(lib: string, connection: string): Promise<void> {
    const { LockService: Service, RedisLockModule } = (await import(
      `${lib}/index.ts`
    )) as typeof import('../../../lib/index.js');
    const context = await NestFactory.createApplicationContext(RedisLockModule.forRoot({ connection }), {
      logger: ['error', 'warn'],
      abortOnError: false,
    });
    service = context.get(Service);
  },
  async crowd(process: string, crowd: Crowd): Promise<readonly SeenHold[]> {
    const end = now() + crowd.milliseconds;
    const all = Array.from({ length: crowd.callers }, (_, i) =>
      callOnAndOn(`${process}/${i}`, crowd.seed + i, crowd, end),
    );
    return (await Promise.all(all)).flat();
  },
  /** Acquires and keeps; resolves to how the (last) name was granted. */
  async hold(id: string, wish: Wish): Promise<string | undefined> {
    kept.set(id, await ask(wish));
    return ways.get(wish.names.at(-1) ?? '');
  },
  release: (id: string): Promise<void> => keptLock(id).release(),
  tokens: (id: string): readonly number[] =>
    keptLock(id).keys.map((name) => keptLock(id).fencingTokenOf(name)),
  /** Lets go of a kept hold, so that another process can go on with it. */
  detach: (id: string): Promise<string> => keptLock(id).detach(),
  async attach(id: string, transfer: string): Promise<void> {
    kept.set(id, await locks().attach(transfer));
  },
  extend: (id: string): Promise<void> => keptLock(id).extend(),
  /** Whether a single attempt gets what is wished for; it is released again. */
  async isFree({ names, mode, limit, permits }: Wish): Promise<boolean> {
    const options = { wait: 0, ...(mode && { mode }), ...(limit && { limit }), ...(permits && { permits }) };
    const lock = await locks()
      .acquire([...names], options)
      .catch(() => undefined);
    await lock?.release();
    return lock !== undefined;
  },
  problems: (): readonly string[] => problems.splice(0),
};

export type RevisionCalls = typeof calls;

serveCalls(calls);
