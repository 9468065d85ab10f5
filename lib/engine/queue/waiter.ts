import { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Grant } from '../../store/grant.js';
import type { Timed } from '../../primitives/deadlines.js';
import type { FifoNode } from '../../primitives/fifo.js';
import type { Hold } from '../hold/hold.js';
import { onAbort } from '../../primitives/on-abort.js';

/** Where a waiter stands. */
export interface WaiterQueue {
  giveUp(waiter: Waiter, reason: unknown): void;
  timeOut(waiter: Waiter): void;
  /** Whether more can be found out about the holder that an error tells of. */
  canName(error: LockTimeoutError): boolean;
  /** Rejects with the error, and the holder's label. */
  rejection(error: LockTimeoutError): Promise<never>;
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

/** When a waiter is rejected during an outage that began at `silentSince`. */
export function patienceEnd(
  { startedAt, once, options }: Waiter,
  silentSince: number,
  hasSeenTaken: boolean,
): number {
  // An attempt does not begin anew with a reply that it has to confirm.
  const since = once ? startedAt : Math.max(silentSince, startedAt);
  const outageEnds = since + options.outageTimeout;
  // Once the lock was seen taken, the end of the wait is the business of `timeOut`.
  return once || hasSeenTaken ? outageEnds : Math.min(outageEnds, startedAt + options.wait);
}

/** A caller of this process that wants a lock. */
export class Waiter implements FifoNode<Waiter>, Timed {
  previous: Waiter | undefined;
  next: Waiter | undefined;
  deadline: Timed['deadline'];
  isWaiting = true;
  private readonly detach: (() => void) | undefined;

  constructor(
    readonly queue: WaiterQueue,
    readonly options: ResolvedLockOptions,
    readonly startedAt: number,
    private readonly resolve: (hold: Hold | Promise<never>) => void,
    private readonly fail: (error: unknown) => void,
  ) {
    const { signal } = options;
    if (signal) this.detach = onAbort(signal, () => queue.giveUp(this, signal.reason));
  }

  /** Whether it asks a single time and does not queue. */
  get once(): boolean {
    return this.options.wait === 0;
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

  reject(error: unknown): void {
    this.isWaiting = false;
    this.detach?.();
    const isUnnamed =
      this.options.namesHolder && error instanceof LockTimeoutError && this.queue.canName(error);
    if (isUnnamed) this.resolve(this.queue.rejection(error));
    else this.fail(error);
  }
}

/** Whether as many replicas know of a grant as a waiter wants. */
export function isKnownEnough({ replicas = 0 }: Pick<Grant, 'replicas'>, { options }: Waiter): boolean {
  return replicas >= (options.replicas?.min ?? 0);
}
