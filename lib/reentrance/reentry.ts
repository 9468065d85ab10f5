import { onAbort } from '../engine/on-abort.js';

interface Branch {
  settle(admitted: boolean): void;
}

export interface BranchWait {
  readonly wait: number;
  readonly signal: AbortSignal | undefined;
  /** The error of a branch that waited so many milliseconds in vain. */
  readonly timeout: (waited: number) => Error;
}

/**
 * The way into a hold from the calls below it.
 *
 * One branch at a time: parallel branches below one hold exclude each other while inside, in arrival order. Those
 * below a shared hold do not: others are at the same work anyway.
 * The hold ends only when the branch inside has left, and lets nobody in from the moment its owner releases it.
 */
export class Reentry {
  /** The entry of the branch inside, once that has it. */
  occupant: object | undefined;
  private open = true;
  /** How many branches are inside. */
  private inside = 0;
  private readonly branches = new Set<Branch>();
  private emptied: (() => void) | undefined;

  constructor(private readonly mode: 'exclusive' | 'shared') {}

  get isOpen(): boolean {
    return this.open;
  }

  /** Resolves to false when the hold was released meanwhile: the caller has to acquire the lock by itself. */
  enter({ wait, signal, timeout }: BranchWait): Promise<boolean> {
    if (!this.open) return Promise.resolve(false);
    if (this.admits) {
      this.inside++;
      return Promise.resolve(true);
    }
    if (wait === 0) return Promise.reject(timeout(0));
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const leave = (): void => {
        this.branches.delete(branch);
        clearTimeout(timer);
        detach?.();
      };
      const branch: Branch = {
        settle: (admitted) => {
          leave();
          resolve(admitted);
        },
      };
      const detach =
        signal &&
        onAbort(signal, () => {
          leave();
          reject(signal.reason);
        });
      const timer = setTimeout(
        () => {
          leave();
          reject(timeout(performance.now() - startedAt));
        },
        Math.min(wait, 2 ** 31 - 1),
      );
      timer.unref();
      this.branches.add(branch);
    });
  }

  leave(): void {
    this.occupant = undefined;
    const [next] = this.branches;
    if (next) return next.settle(true);
    this.inside--;
    if (this.inside === 0) this.emptied?.();
  }

  /** Whether a branch could go inside at once. */
  get admits(): boolean {
    return this.inside === 0 || this.mode === 'shared';
  }

  /** Whether a branch is inside. */
  get isBusy(): boolean {
    return this.inside > 0;
  }

  /** Lets calls in again, after a {@link close} that ended nothing. */
  reopen(): void {
    this.open = true;
  }

  /** Resolves when nobody is inside any more. */
  close(): Promise<void> {
    this.open = false;
    for (const branch of [...this.branches]) branch.settle(false);
    if (this.inside === 0) return Promise.resolve();
    return new Promise((resolve) => (this.emptied = resolve));
  }
}
