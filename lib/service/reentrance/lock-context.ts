import type { GrantedLock } from '../../engine/hold/lock.interface.js';
import { type ReusableLock, type HoldContext, Reentry } from '../../engine/hold/reentry.js';
import { holdsOf } from '../../engine/hold/combined-lock.js';
import { Enclosure } from '../../primitives/enclosure.js';
import { tryTo } from '../../primitives/try-to.js';
import { Invocation } from '../invocation/invocation.js';

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

  override get isAround(): boolean {
    return this.context.find((each) => each === this || undefined) === true;
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
    return (holds[0]?.reentry?.context ?? this.open(lock, holds)).run(() => startLazy(work()));
  }

  private open(lock: GrantedLock, holds: readonly ReusableLock[]): HoldContext {
    const frame = new LockFrame(this, lock, holds);
    for (const hold of holds) hold.reentry = new Reentry(hold, frame);
    return frame;
  }

  /** The innermost hold of a name that still admits calls. */
  enclosing(name: string): EnclosingHold | undefined {
    return this.find(({ holds }) => innermostAround(holds.filter(({ keys }) => keys[0] === name)));
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

  /**
   * The first result of `select` that is not undefined, for the locks of this service from inside out. The locks that an
   * invocation keeps are around all of its code.
   */
  find<T>(select: (frame: LockFrame) => T | undefined): T | undefined {
    const selectOwn = (each: unknown): T | undefined =>
      each instanceof LockFrame && each.context === this ? select(each) : undefined;
    return Enclosure.find((each) => {
      if (!(each instanceof Invocation)) return selectOwn(each);
      for (const lock of each.kept) {
        const found = selectOwn(holdsOf(lock)[0]?.reentry?.context);
        if (found !== undefined) return found;
      }
      return undefined;
    });
  }
}

/**
 * Starts a lazy thenable, such as a query of Prisma, Mongoose, Knex or Drizzle, in the async context of the caller. A
 * later `await` would start it in the context of that `await`. Other values pass unchanged.
 */
function startLazy<T>(result: T): T {
  const isThenable = tryTo(() => typeof Reflect.get(Object(result) as object, 'then') === 'function');
  return isThenable === true ? (Promise.resolve(result) as T) : result;
}

/**
 * One of the holds, or an entry into it, that is around the running code and admits calls. An invocation may keep an entry
 * that is further inside, and may call its handler again from inside an entry into the hold that it keeps.
 */
function innermostAround(holds: Iterable<ReusableLock>): EnclosingHold | undefined {
  for (const hold of holds) {
    const { reentry } = hold;
    const inner = reentry?.isBusy ? innermostAround(reentry.occupants) : undefined;
    if (inner !== undefined) return inner;
    if (reentry?.isOpen && reentry.surroundsCaller) return { hold, reentry };
  }
  return undefined;
}
