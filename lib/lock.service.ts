// TEMPORARY in-memory stand-in: the real service (Redis engine) replaces this file.
import { LockLostError } from './errors/lock-lost.error.js';
import { LockTimeoutError } from './errors/lock-timeout.error.js';
import type { Lock, LockSnapshot } from './interfaces/lock.interface.js';
import type { LockOptions } from './interfaces/lock-options.interface.js';
import type { ResolvedModuleOptions } from './interfaces/module-options.interface.js';

export class LockService {
  private readonly tails = new Map<string, Promise<void>>();
  private token = Date.now() * 1000;
  constructor(readonly options: ResolvedModuleOptions) {}

  async acquire(key: string | readonly string[], options: LockOptions = {}): Promise<Lock> {
    const keys = [...new Set(typeof key === 'string' ? [key] : key)].sort();
    const name = keys.join('\0');
    const before = this.tails.get(name) ?? Promise.resolve();
    let free!: () => void;
    const mine = new Promise<void>((resolve) => (free = resolve));
    this.tails.set(name, before.then(() => mine));
    const wait = options.wait ?? this.options.defaults.wait;
    const ok = await Promise.race([before.then(() => true), new Promise<boolean>((r) => setTimeout(() => r(false), wait))]);
    if (!ok) {
      void before.then(free);
      throw new LockTimeoutError(`${name} was held by somebody else`, { keys, waited: wait });
    }
    const controller = new AbortController();
    let released = false;
    const fencingToken = ++this.token;
    const lock: Lock = {
      keys, fencingToken, signal: controller.signal,
      get held() { return !released; }, get remaining() { return released ? 0 : 30_000; },
      fencingTokenOf: () => fencingToken,
      assertHeld() { if (released) throw new LockLostError('lost', { keys }); },
      extend: async () => {},
      release: async () => { released = true; free(); },
      [Symbol.asyncDispose]: async () => { await lock.release(); },
    };
    return lock;
  }
  async tryAcquire(key: string | readonly string[], options: LockOptions = {}): Promise<Lock | null> {
    return this.acquire(key, { ...options, wait: 0 }).catch(() => null);
  }
  async using<T>(key: string | readonly string[], ...rest: [(lock: Lock) => T | Promise<T>] | [LockOptions, (lock: Lock) => T | Promise<T>]): Promise<T> {
    const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
    const lock = await this.acquire(key, options);
    try { return await this.runInContext(lock, () => work(lock)); } finally { await lock.release(); }
  }
  current(_key?: string): Lock | undefined { return undefined; }
  async query(_key: string): Promise<LockSnapshot> { return { held: [], pending: [] }; }
  async forceRelease(_key: string): Promise<boolean> { return false; }

  /** @internal Runs `work` in the async context of a lock that this service granted, so that calls below re-enter it. */
  runInContext<T>(_lock: Lock, work: () => T): T { return work(); }
  /** @internal Refuses new acquires from now on and ends the waiting ones with LockClosedError. */
  beginShutdown(): void {}
  /** @internal Waits (bounded) for running holders, aborts the signals of the rest, closes what this service opened. Never rejects. */
  async close(): Promise<void> {}
}
