import { isForeign } from '../../store/owner-id.js';
import type { Gap } from '../../store/lock-store.js';

/** Maximum milliseconds until a waiting instance asks again. */
const MAX_REASK_DELAY = 1_000;
/**
 * Milliseconds for which the lock is free in a gap. Also the maximum while a client of another package has the lock: its
 * release notifies no waiter. Four callers share a name about equally with four of redlock, which poll every 200 ms
 * each. With 100 ms, redlock gets the lock three times as often.
 */
const GAP = 40;
/** The maximum if turns end with gaps: the message of a gap may be lost. */
const GAP_CHECK_DELAY = 200;
/** Milliseconds for which turns end with a gap after a foreign holder. A client may be away for a while. */
const MEMORY = 120_000;
/**
 * Milliseconds for which the lock is free in a gap without a known client of another package, and after which a busy
 * name has the next one. A client that polls meets one sooner or later. Longer gaps would cost more than 1 %.
 */
const PROBE = 7;
const PROBE_INTERVAL = 1_000;
/** Maximum number of names with gaps. */
const MAX_NAMES = 1_000;

/**
 * Decides which turns of one instance end with a gap, in which the lock is free for clients of other packages, which
 * poll. Outlasts idle names: callers may come one at a time.
 */
export class Gaps {
  /** By name: until when all turns end with a gap. */
  private readonly shared = new Map<string, number>();
  /** By name: since when the lock was not seen free. */
  private readonly busy = new Map<string, number>();

  note(name: string, owner: string | undefined, now: number): void {
    if (isForeign(owner)) set(this.shared, name, now + MEMORY);
  }

  /** Records that a lock was granted here, when it was free or after another holder. */
  noteGrant(name: string, wasFree: boolean, now: number): void {
    if (!wasFree) {
      if (!this.busy.has(name)) set(this.busy, name, now);
    } else if (this.busy.size > 0) this.busy.delete(name);
  }

  /** Records a gap of another instance, which remembers a foreign holder for `memory` ms. */
  noteGap(name: string, { memory }: Pick<Gap, 'memory'>, now: number): void {
    set(this.busy, name, now);
    if (memory > 0) set(this.shared, name, Math.max(this.shared.get(name) ?? -Infinity, now + memory));
  }

  /** Maximum milliseconds until a waiting instance asks again. */
  reaskDelay(name: string, owner: string | undefined, now: number): number {
    if (isForeign(owner)) return GAP;
    return this.memory(name, now) > 0 ? GAP_CHECK_DELAY : MAX_REASK_DELAY;
  }

  /** Begins a gap; returns undefined if the turn ends without one. `mayProbe` allows gaps without a known foreign client. */
  next(name: string, mayProbe: boolean, now: number): Pick<Gap, 'length' | 'memory'> | undefined {
    const memory = this.memory(name, now);
    const busySince = this.busy.get(name) ?? now;
    if (memory === 0 && !(mayProbe && now - busySince >= PROBE_INTERVAL)) return undefined;
    set(this.busy, name, now);
    return { length: memory > 0 ? GAP : PROBE, memory };
  }

  private memory(name: string, now: number): number {
    if (this.shared.size === 0) return 0;
    return Math.max(0, Math.ceil((this.shared.get(name) ?? now) - now));
  }
}

/** Sets an entry, and forgets the oldest one of too many. */
function set(map: Map<string, number>, name: string, value: number): void {
  map.delete(name);
  map.set(name, value);
  const [oldest = name] = map.keys();
  if (map.size > MAX_NAMES) map.delete(oldest);
}
