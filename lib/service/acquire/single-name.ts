import { hasAcquireSubscribers, observeAcquire } from '../../diagnostics/acquire.channel.js';
import type { LockEngine } from '../../engine/lock-engine.js';
import { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { ReusableLock } from '../../engine/hold/reentry.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { EnclosingHold, LockContext } from '../reentrance/lock-context.js';
import { NestedHold } from '../reentrance/nested-hold.js';
import { type BlockedCall, upgradeError, WaitGraph } from '../reentrance/wait-graph.js';
import { withHeldNames } from './rejections-of-several.js';
import { leaseCovering } from '../../options/lock-options.js';

/** A call that acquires one name after the other. */
export interface AcquiringCall {
  /** The holds that it already has. */
  readonly held: readonly ReusableLock[];
  /** Acquires from the engine, if the call cannot reuse a surrounding hold. `wait: 0` is a single attempt. */
  ask(name: string, options: ResolvedLockOptions): Promise<ReusableLock>;
}

/** Acquires a single name: reuses a surrounding hold, or asks the engine. */
export class SingleName implements AcquiringCall {
  readonly held = [];
  private readonly waits = new WaitGraph();

  constructor(
    readonly engine: LockEngine,
    private readonly context: LockContext,
  ) {}

  acquire(name: string, options: ResolvedLockOptions, call: AcquiringCall = this): Promise<ReusableLock> {
    // Checked before each wait, because a signal that has already aborted fires no event.
    options.signal?.throwIfAborted();
    const { isEntered } = this.context;
    const enclosing = isEntered && options.reentrant ? this.context.enclosing(name) : undefined;
    if (enclosing) return this.reuse(name, enclosing, options, call);
    const holdsNothing = !isEntered && call.held.length === 0;
    if (holdsNothing || options.wait === 0) return call.ask(name, leaseCovering(options));
    return this.waitHolding(name, call.held, this.engine.blockersOf(name, options), () =>
      call.ask(name, leaseCovering(options)),
    );
  }

  /** Whether the call would reuse a surrounding hold of the name. */
  isEnclosed(name: string, { reentrant }: ResolvedLockOptions): boolean {
    return reentrant && this.context.enclosing(name) !== undefined;
  }

  /** Whether this instance knows that a single attempt would find the name taken, or would overtake a waiter. */
  isBusy(name: string, options: ResolvedLockOptions): boolean {
    const enclosing = options.reentrant ? this.context.enclosing(name) : undefined;
    if (enclosing) return !enclosing.reentry.admits;
    return this.engine.isBusy(name, options);
  }

  ask(name: string, options: ResolvedLockOptions): Promise<ReusableLock> {
    if (hasAcquireSubscribers()) return observeAcquire(this.engine, name, options);
    return this.engine.acquire(name, options);
  }

  /**
   * Waits while the call's context holds other names. Rejects at once if the wait would close a cycle; a timeout lists
   * the held names.
   */
  private async waitHolding<T>(
    name: string,
    held: readonly ReusableLock[],
    blockers: BlockedCall['blockers'],
    granting: () => Promise<T>,
  ): Promise<T> {
    const holds = [...this.context.holds(), ...held];
    try {
      return await this.waits.during({ name, holds, blockers }, granting);
    } catch (error) {
      const names = new Set(holds.flatMap(({ keys }) => keys).filter((key) => key !== name));
      throw names.size > 0 && error instanceof LockTimeoutError ? withHeldNames(error, [...names]) : error;
    }
  }

  /** Reuses a hold of the enclosing context, or acquires the name again if that hold ends before. */
  private async reuse(
    name: string,
    { hold, reentry }: EnclosingHold,
    options: ResolvedLockOptions,
    call: AcquiringCall,
  ): Promise<ReusableLock> {
    hold.assertNotLost();
    const isMore = options.mode === 'exclusive' || options.permits > hold.permits;
    if (hold.mode === 'shared' && isMore) throw upgradeError(hold, options);
    const startedAt = performance.now();
    const reuse = async (): Promise<ReusableLock | undefined> => {
      const entered = await reentry.enter(
        options,
        (waited) =>
          new LockTimeoutError(
            `Lock "${name}" was not acquired within ${Math.round(waited)} ms: another nested call used the same hold.`,
            { keys: [name], waited },
          ),
      );
      return entered ? new NestedHold(hold, reentry) : undefined;
    };
    const nested =
      !reentry.admits && options.wait > 0
        ? await this.waitHolding(name, call.held, () => [...reentry.occupants], reuse)
        : await reuse();
    if (!nested) {
      const wait = Math.max(0, options.wait - (performance.now() - startedAt));
      return this.acquire(name, { ...options, wait }, call);
    }
    reentry.occupants.add(nested);
    try {
      // The hold may have been lost while another branch was inside.
      nested.assertHeld();
      return nested;
    } catch (error) {
      await nested.release();
      throw error;
    }
  }
}
