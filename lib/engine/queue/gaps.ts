import { isForeign } from '../../store/owner-id.js';

/** Maximum milliseconds until a waiting instance asks again. */
const MAX_REASK_DELAY = 1_000;
/**
 * Milliseconds for which the lock is free in a gap. Also the maximum while a client of another package has the lock: its
 * release notifies no waiter. Four callers share a name about equally with four of redlock, which poll every 200 ms
 * each. With 100 ms, redlock gets the lock three times as often.
 */
export const GAP = 40;
/** The maximum if turns end with gaps: after the last caller of an instance, no instance asks at the end of a gap. */
const GAP_CHECK_DELAY = 200;
/** Number of turns that end with a gap after a foreign holder. Short foreign holds within gaps go unnoticed. */
const GAPS = 30;
/** Maximum number of names with gaps. */
const MAX_NAMES = 1_000;

/**
 * The names of one instance that clients of other packages use, too, with the number of turns that end with a gap. In a
 * gap, the lock is free for clients that poll. Outlasts idle names: callers may come one at a time.
 */
export class Gaps {
  private readonly left = new Map<string, number>();

  /** Records who has the lock. */
  note(name: string, owner: string | undefined): void {
    if (!isForeign(owner)) return;
    this.left.delete(name);
    this.left.set(name, GAPS);
    const [oldest = name] = this.left.keys();
    if (this.left.size > MAX_NAMES) this.left.delete(oldest);
  }

  /** Maximum milliseconds until a waiting instance asks again. */
  reaskDelay(name: string, owner: string | undefined): number {
    if (isForeign(owner)) return GAP;
    return this.left.has(name) ? GAP_CHECK_DELAY : MAX_REASK_DELAY;
  }

  /** Uses one gap; returns false if the turn ends without one. */
  use(name: string): boolean {
    const left = this.left.get(name);
    if (left === undefined) return false;
    if (left > 1) this.left.set(name, left - 1);
    else this.left.delete(name);
    return true;
  }
}
