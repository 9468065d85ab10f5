import { AsyncLocalStorage } from 'node:async_hooks';
import type { GrantedLock } from '../../engine/hold/lock.interface.js';
import { type EnterableLock, Reentry } from '../../engine/hold/reentry.js';

/** A lock around running code, and the frame outside it. */
export interface Frame {
  readonly lock: GrantedLock;
  readonly holds: readonly EnterableLock[];
  readonly outer: Frame | undefined;
}

/** A hold of the enclosing async context, with its re-entry. */
export interface EnclosingHold {
  readonly hold: EnterableLock;
  readonly reentry: Reentry;
}

/**
 * Tracks by async context which holds enclose the running code, like a thread-local count of entries for threads.
 *
 * Work that outlives its hold finds it closed, and does not inherit it.
 */
export class LockContext {
  private readonly frames = new AsyncLocalStorage<Frame | undefined>();

  /** The innermost lock around the running code. */
  get innermost(): Frame | undefined {
    return this.frames.getStore();
  }

  /** Runs `work` with `lock`, which consists of `holds`, around it. */
  run<T>(lock: GrantedLock, holds: readonly EnterableLock[], work: () => T): T {
    for (const hold of holds) hold.reentry ??= new Reentry(hold, this.isBelow);
    return this.frames.run({ lock, holds, outer: this.innermost }, work);
  }

  /** Runs `work` with no lock around it. */
  outside<T>(work: () => T): T {
    return this.frames.run(undefined, work);
  }

  /** Whether the running code is below a hold. */
  private readonly isBelow = (hold: object): boolean => {
    for (let frame = this.innermost; frame; frame = frame.outer)
      if (frame.holds.some((each) => each === hold)) return true;
    return false;
  };

  /** The innermost hold of a name that still admits calls. */
  enclosing(name: string): EnclosingHold | undefined {
    for (let frame = this.innermost; frame; frame = frame.outer) {
      for (const hold of frame.holds) {
        if (hold.keys[0] === name && hold.reentry?.isOpen) return { hold, reentry: hold.reentry };
      }
    }
    return undefined;
  }

  /** All holds around the running code that have not ended, the outermost first. */
  holds(): EnterableLock[] {
    const holds: EnterableLock[] = [];
    for (let frame = this.innermost; frame; frame = frame.outer) {
      holds.unshift(...frame.holds.filter(({ reentry }) => reentry?.isOpen));
    }
    return holds;
  }

  /** The innermost lock, of any name or of the given one, that has not been released. */
  current(name: string | undefined): GrantedLock | undefined {
    for (let frame = this.innermost; frame; frame = frame.outer) {
      const named = name === undefined || frame.lock.keys.includes(name);
      if (named && frame.holds.every((hold) => hold.reentry?.isOpen)) return frame.lock;
    }
    return undefined;
  }
}
