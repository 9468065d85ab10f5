import type { Loss } from '../lock-errors.js';
import { onAbort } from '../../primitives/abandonment.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { GrantedLock } from './lock.interface.js';
import type { DetachedHold } from './detached-lock.js';

/** The detachment of one hold. */
export interface Detachment {
  readonly detached: DetachedHold;
  /** Releases the detached hold, unless it was attached. Never rejects. */
  release(): Promise<void>;
}

/** A hold of a single name, which nested calls can reuse. */
export interface ReusableLock extends GrantedLock {
  readonly mode: 'exclusive' | 'shared';
  readonly permits: number;
  /** Its owner id in the store. */
  readonly owner: string;
  /** When its lease ends without further renewal, on the clock of its instance. */
  readonly leaseEnd: number;
  /** Created when a context is opened around the hold. */
  reentry: Reentry | undefined;
  /** Throws if the hold cannot be transferred, because it has ended or a nested call still uses it. */
  assertCanDetach(): void;
  /**
   * Detaches the hold for the owner of the secret. The hold cannot be used meanwhile; after a failure it can be used
   * again.
   */
  detachFor(secret: string, ttl: number | undefined): Promise<Detachment>;
  /**
   * Sends a request that can also release the lock; resolves to its reply: whether it was carried out. `send(true)`
   * releases the hold, whatever the reply. A hold that must continue, such as a nested one, is not released by it.
   */
  endBy(send: (releases: boolean) => Promise<boolean>): Promise<boolean>;
  /** Marks the hold as lost, together with the others of `keys`, and releases it. Never rejects. */
  loseAndRelease(loss: Loss, keys: readonly string[]): Promise<void>;
}

/** The async context of nested calls in a hold. Several holds of one lock share it. */
export interface HoldContext {
  /** Whether the running code is inside. */
  readonly isAround: boolean;
  /** Runs `work` inside. */
  run<T>(work: () => T): T;
  /** Called once by each hold, at its end. */
  endOfHold(): void;
}

/** Ends the wait of a branch. `admitted` is false if the hold was released. */
type SettleBranch = (admitted: boolean) => void;

/**
 * Lets nested calls reuse a hold.
 *
 * Parallel branches of nested calls exclude each other in an exclusive hold, in arrival order; in a shared hold they do
 * not. The hold ends only when all branches have ended. After its owner has released it, it admits no further branch.
 */
export class Reentry {
  private open = true;
  /** The end of the lease at the time of the release. */
  private until = Infinity;
  /** Number of branches inside. */
  private inside = 0;
  /** Created on demand, because most holds are never reused. */
  private entries: Set<ReusableLock> | undefined;
  private branches: Set<SettleBranch> | undefined;
  private emptied: (() => void) | undefined;

  constructor(
    private readonly hold: Pick<ReusableLock, 'mode' | 'signal' | 'leaseEnd'>,
    readonly context: HoldContext,
  ) {}

  get isOpen(): boolean {
    return this.open;
  }

  /** The entries of the branches inside. */
  get occupants(): Set<ReusableLock> {
    return (this.entries ??= new Set());
  }

  /**
   * Waits to be admitted. Resolves to false if the hold was released meanwhile: the caller must then acquire the lock
   * itself.
   *
   * @param timeoutError creates the error of a branch that waited for the whole `wait`
   */
  enter(
    { wait, signal }: Pick<ResolvedLockOptions, 'signal' | 'wait'>,
    timeoutError: (waited: number) => Error,
  ): Promise<boolean> {
    if (!this.open) return Promise.resolve(false);
    if (this.admits) {
      this.inside++;
      return Promise.resolve(true);
    }
    if (wait === 0) return Promise.reject(timeoutError(0));
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const endWait = (): void => {
        this.branches?.delete(branch);
        clearTimeout(timer);
        unhook?.();
      };
      const branch: SettleBranch = (admitted) => {
        endWait();
        resolve(admitted);
      };
      const unhook =
        signal &&
        onAbort(signal, () => {
          endWait();
          reject(signal.reason);
        });
      const timer = setTimeout(
        () => {
          endWait();
          reject(timeoutError(performance.now() - startedAt));
        },
        Math.min(wait, 2 ** 31 - 1),
      );
      timer.unref();
      (this.branches ??= new Set()).add(branch);
    });
  }

  exit(occupant: ReusableLock): void {
    this.occupants.delete(occupant);
    const [next] = this.branches ?? [];
    if (next) return next(true);
    this.inside--;
    if (this.inside === 0) this.emptied?.();
  }

  /** Whether a branch would be admitted at once. */
  get admits(): boolean {
    return this.inside === 0 || this.hold.mode === 'shared';
  }

  /** Whether a branch is inside. */
  get isBusy(): boolean {
    return this.inside > 0;
  }

  /** Whether the running code is nested in the hold. */
  get surroundsCaller(): boolean {
    return this.context.isAround;
  }

  /** Whether the running code would wait for other nested calls, possibly for itself. */
  get isOwnWait(): boolean {
    if (this.inside === 0) return false;
    return (
      this.surroundsCaller ||
      [...this.occupants].some(({ reentry }) => reentry?.surroundsCaller || reentry?.isOwnWait)
    );
  }

  /**
   * Until when the hold waits for calls inside, on the clock of its instance. Calls with their own context end by
   * themselves. A plain `acquire` may never be released, so it has only the lease that was left when the owner
   * released.
   */
  get waitsUntil(): number {
    if (this.inside === 0) return Infinity;
    return Math.min(...[...this.occupants].map(({ reentry }) => (reentry ? reentry.waitsUntil : this.until)));
  }

  /** Admits calls again after an unsuccessful {@link close}. */
  reopen(): void {
    this.open = true;
    this.until = Infinity;
  }

  /**
   * Stops admitting calls. Resolves when no call is inside, or when the hold is lost; undefined if no call is inside.
   */
  close(): Promise<void> | undefined {
    this.open = false;
    this.until = this.hold.leaseEnd;
    if (this.branches) for (const branch of [...this.branches]) branch(false);
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
