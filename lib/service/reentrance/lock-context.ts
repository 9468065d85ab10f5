import type { GrantedLock } from '../../engine/hold/lock.interface.js';
import { type ReusableLock, type HoldContext, Reentry } from '../../engine/hold/reentry.js';
import { Enclosure } from '../../primitives/enclosure.js';

/** A hold of the enclosing async context, with its re-entry. */
export interface EnclosingHold {
  readonly hold: ReusableLock;
  readonly reentry: Reentry;
}

/** A lock of one service around running code, until all of its holds have ended. */
class LockFrame extends Enclosure implements HoldContext {
  private left: number;

  constructor(
    readonly context: LockContext,
    readonly lock: GrantedLock,
    readonly holds: readonly ReusableLock[],
  ) {
    super();
    this.left = holds.length;
  }

  endOfHold(): void {
    this.left -= 1;
    if (this.left === 0) this.end();
  }
}

/**
 * Tracks by async context which holds enclose the running code, like a thread-local count of entries for threads.
 *
 * Work that outlives its hold finds it closed, and does not inherit it.
 */
export class LockContext {
  /** Stops tracking, when no call can get a lock any more. */
  readonly close = Enclosure.use();

  /** Whether the running code is nested in a hold. */
  get isEntered(): boolean {
    return this.find(() => true) === true;
  }

  /** Runs `work` with `lock`, which consists of `holds`, around it. */
  run<T>(lock: GrantedLock, holds: readonly ReusableLock[], work: () => T): T {
    return (holds[0]?.reentry?.context ?? this.open(lock, holds)).run(work);
  }

  private open(lock: GrantedLock, holds: readonly ReusableLock[]): HoldContext {
    const frame = new LockFrame(this, lock, holds);
    for (const hold of holds) hold.reentry = new Reentry(hold, frame);
    return frame;
  }

  /** The innermost hold of a name that still admits calls. */
  enclosing(name: string): EnclosingHold | undefined {
    return this.find(({ holds }) => {
      for (const hold of holds) {
        if (hold.keys[0] === name && hold.reentry?.isOpen) return { hold, reentry: hold.reentry };
      }
      return undefined;
    });
  }

  /** All holds around the running code that have not ended, the outermost first. */
  holds(): ReusableLock[] {
    const holds: ReusableLock[] = [];
    this.find((frame) => void holds.unshift(...frame.holds.filter(({ reentry }) => reentry?.isOpen)));
    return holds;
  }

  /** The innermost lock, of any name or of the given one, that has not been released. */
  current(name: string | undefined): GrantedLock | undefined {
    return this.find(({ holds, lock }) => {
      const named = name === undefined || lock.keys.includes(name);
      return named && holds.every((hold) => hold.reentry?.isOpen) ? lock : undefined;
    });
  }

  /** The first result of `select` that is not undefined, for the locks of this service from inside out. */
  private find<T>(select: (frame: LockFrame) => T | undefined): T | undefined {
    return Enclosure.find((each) =>
      each instanceof LockFrame && each.context === this ? select(each) : undefined,
    );
  }
}
