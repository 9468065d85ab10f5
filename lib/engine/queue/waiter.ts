import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Timed } from '../../primitives/deadlines.js';
import { sharedTag } from '../../store/owner-id.js';
import { Fifo, type FifoNode } from '../../primitives/fifo.js';
import type { Hold } from '../hold/hold.js';

/** A caller of this process that wants a lock. */
export class Waiter implements FifoNode<Waiter>, Timed {
  previous: Waiter | undefined;
  next: Waiter | undefined;
  deadline: Timed['deadline'];
  /** Stops listening to its signal. */
  unhook: (() => void) | undefined;
  /** Whether shutdown has ended its wait: it receives the lock only if its next reply is a grant. */
  isCutShort = false;
  /** The tag of the shared hold that it wants; undefined for the exclusive lock. */
  readonly tag: string | undefined;

  constructor(
    readonly name: string,
    readonly options: ResolvedLockOptions,
    readonly startedAt: number,
    readonly resolve: (hold: Hold | Promise<Hold>) => void,
    readonly reject: (error: unknown) => void,
  ) {
    this.tag = options.mode === 'shared' ? sharedTag(options) : undefined;
  }

  /** Whether it sends a single request and does not queue. */
  get isAttempt(): boolean {
    return this.isCutShort || this.options.wait === 0;
  }

  /** Number of replicas that must confirm its grant. */
  get replicas(): number {
    return this.options.replicas?.min ?? 0;
  }

  /** When its wait ends. An attempt does not wait: a reply ends it, or an outage. */
  get due(): number {
    return this.options.wait === 0 ? Infinity : this.startedAt + this.options.wait;
  }
}

/** Whether one request can serve both waiters. */
export function isAlike({ isAttempt, replicas, tag }: Waiter): (waiter: Waiter) => boolean {
  return (other) => other.tag === tag && other.isAttempt === isAttempt && other.replicas === replicas;
}

/** Whether a caller with these options excludes all other holders. */
export function excludesOthers({ mode, limit, permits }: ResolvedLockOptions): boolean {
  return mode === 'exclusive' || limit === permits;
}

/** The time at which a waiter is rejected during an outage that began at `silentSince`. */
export function outageEnd({ startedAt, isAttempt, options }: Waiter, silentSince: number): number {
  // A reply that needs confirmation does not restart the time limit of an attempt.
  return (isAttempt ? startedAt : Math.max(silentSince, startedAt)) + options.outageTimeout;
}

/** The waiters of one local queue, in arrival order. */
export class WaitingLine {
  /** Number of waiters that send a single request. */
  attempts = 0;
  /** A lower bound of the shortest `outageTimeout` among the waiters. */
  shortestOutageTimeout = Infinity;
  private readonly waiters = new Fifo<Waiter>();

  get first(): Waiter | undefined {
    return this.waiters.first;
  }

  get size(): number {
    return this.waiters.size;
  }

  [Symbol.iterator](): Iterator<Waiter> {
    return this.waiters[Symbol.iterator]();
  }

  add(waiter: Waiter): void {
    this.waiters.push(waiter);
    this.shortestOutageTimeout = Math.min(this.shortestOutageTimeout, waiter.options.outageTimeout);
    if (waiter.isAttempt) this.attempts++;
  }

  has(waiter: Waiter): boolean {
    return this.waiters.has(waiter);
  }

  /** Turns a waiter into one that does not wait for a taken lock. */
  cutShort(waiter: Waiter): void {
    waiter.isCutShort = true;
    this.attempts++;
  }

  remove(waiter: Waiter): void {
    if (!this.has(waiter)) return;
    this.waiters.remove(waiter);
    if (waiter.isAttempt) this.attempts--;
    if (this.waiters.size === 0) this.shortestOutageTimeout = Infinity;
  }

  /** Waiters, without attempts, that exclude all other holders. */
  get excludingWaiters(): readonly Waiter[] {
    return [...this.waiters].filter(({ isAttempt, options }) => !isAttempt && excludesOthers(options));
  }

  /** Number of consecutive waiters from the head that meet a condition, at most `most`. */
  leading(condition: (waiter: Waiter) => boolean, most: number): number {
    let count = 0;
    for (const waiter of this.waiters) {
      if (count === most || !condition(waiter)) break;
      count++;
    }
    return count;
  }
}
