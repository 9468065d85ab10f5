import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import type { Timed } from './deadlines.js';
import type { FifoNode } from './fifo.js';
import type { Hold } from './hold.js';
import { onAbort } from './on-abort.js';

/** Where a waiter stands. */
export interface WaiterQueue {
  giveUp(waiter: Waiter, reason: unknown): void;
  timeOut(waiter: Waiter): void;
}

/** Whether a waiter wants the same as another, so that both may ask with one request. */
export function isAlike({ options, once }: Waiter): (waiter: Waiter) => boolean {
  const { mode, limit, replicas } = options;
  return (other) =>
    other.once === once &&
    other.options.mode === mode &&
    other.options.limit === limit &&
    other.options.replicas?.min === replicas?.min;
}

/** Whether nobody else may hold what is asked for so. */
export function wantsToBeAlone({ mode, limit }: ResolvedLockOptions): boolean {
  return mode === 'exclusive' || limit === 1;
}

/** A caller of this process that wants a lock. */
export class Waiter implements FifoNode<Waiter>, Timed {
  previous: Waiter | undefined;
  next: Waiter | undefined;
  isTimed = false;
  isWaiting = true;
  private readonly detach: (() => void) | undefined;

  constructor(
    readonly queue: WaiterQueue,
    readonly options: ResolvedLockOptions,
    /** Asks a single time and does not queue. */
    readonly once: boolean,
    readonly startedAt: number,
    private readonly resolve: (hold: Hold) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    const { signal } = options;
    if (signal) this.detach = onAbort(signal, () => queue.giveUp(this, signal.reason));
  }

  /** When its wait is over. */
  get due(): number {
    return this.startedAt + this.options.wait;
  }

  grant(hold: Hold): void {
    this.isWaiting = false;
    this.detach?.();
    this.resolve(hold);
  }

  refuse(error: unknown): void {
    this.isWaiting = false;
    this.detach?.();
    this.reject(error);
  }
}
