import { onAbort } from '../../primitives/on-abort.js';

/** What calls below it can enter. */
export interface Enterable {
  readonly mode: 'exclusive' | 'shared';
  readonly signal: AbortSignal;
  /** When its lease ends that is not renewed any more, on the clock of its instance. */
  readonly leaseEnd: number;
  /** Made when a context is opened around the hold. */
  reentry: Reentry | undefined;
}

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
  private open = true;
  /** When the lease ends that there was when the hold was released. */
  private until = Infinity;
  /** How many branches are inside. */
  private inside = 0;
  /** Both made when they are needed, since most holds are entered by nobody. */
  private entries: Set<Pick<Enterable, 'reentry'>> | undefined;
  private branches: Set<Branch> | undefined;
  private emptied: (() => void) | undefined;

  /** @param isBelow whether the running code is below a hold */
  constructor(
    private readonly hold: Omit<Enterable, 'reentry'>,
    private readonly isBelow: (hold: object) => boolean,
  ) {}

  get isOpen(): boolean {
    return this.open;
  }

  /** The entries of the branches inside that have one by now. */
  get occupants(): Set<Pick<Enterable, 'reentry'>> {
    return (this.entries ??= new Set());
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
        this.branches?.delete(branch);
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
      (this.branches ??= new Set()).add(branch);
    });
  }

  leave(occupant: Pick<Enterable, 'reentry'>): void {
    this.occupants.delete(occupant);
    const [next] = this.branches ?? [];
    if (next) return next.settle(true);
    this.inside--;
    if (this.inside === 0) this.emptied?.();
  }

  /** Whether a branch could go inside at once. */
  get admits(): boolean {
    return this.inside === 0 || this.hold.mode === 'shared';
  }

  /** Whether a branch is inside. */
  get isBusy(): boolean {
    return this.inside > 0;
  }

  /** Whether who asks would wait below the hold for calls below it, maybe for itself. */
  get isOwnWait(): boolean {
    return this.inside > 0 && this.isBelow(this.hold);
  }

  /**
   * Until when the hold waits for calls inside, on the clock of its instance. Work that has a hold around it ends it; an
   * entry that was acquired without may have been forgotten, so it has the rest of the lease from the release on.
   */
  get patience(): number {
    if (this.inside === 0) return Infinity;
    return Math.min(...[...this.occupants].map(({ reentry }) => (reentry ? reentry.patience : this.until)));
  }

  /** Lets calls in again, after a {@link close} that ended nothing. */
  reopen(): void {
    this.open = true;
    this.until = Infinity;
  }

  /**
   * Resolves when nobody is inside any more, or when the hold is lost and there is nothing left to wait for; undefined where
   * nobody is inside.
   */
  close(): Promise<void> | undefined {
    this.open = false;
    this.until = this.hold.leaseEnd;
    if (this.branches) for (const branch of [...this.branches]) branch.settle(false);
    if (this.inside === 0) return undefined;
    return new Promise((resolve) => {
      const { signal } = this.hold;
      const end = (): void => {
        unhook();
        resolve();
      };
      const unhook = onAbort(signal, end);
      this.emptied = end;
      if (signal.aborted) end();
    });
  }
}
