import type { Clock } from './clock.js';
import { WakeUp } from './wake-up.js';

/** Items that have left are only marked; so many of them may stay beside as many again as are still there. */
const MAX_LEFT = 64;

/** An item whose time can be over. */
export interface Timed {
  /** On {@link Clock.now}'s scale. */
  readonly due: number;
  /** Whether its time is looked after. */
  isTimed: boolean;
}

/**
 * Calls back for items that are still there when their time is over, with one timer for all of them.
 *
 * A binary heap. Items mostly come in the order of their ends, and most leave before: both are O(1) on average.
 */
export class Deadlines<T extends Timed> {
  /** How many items are looked after. */
  size = 0;
  private heap: T[] = [];
  private readonly wakeUp: WakeUp;

  constructor(
    clock: Clock,
    private readonly expire: (item: T) => void,
  ) {
    this.wakeUp = new WakeUp(clock, (now) => this.sweep(now));
  }

  /** Calls back at the item's `due`, unless it leaves before. An item comes at most once. */
  add(item: T): void {
    if (item.due === Infinity || item.isTimed) return;
    item.isTimed = true;
    this.size++;
    this.push(item);
    this.wakeUp.at(item.due);
  }

  delete(item: T): void {
    if (!item.isTimed) return;
    item.isTimed = false;
    this.size--;
    if (this.size === 0) this.heap = [];
    // What is sorted is a heap.
    else if (this.heap.length > 2 * this.size + MAX_LEFT)
      this.heap = this.heap.filter(({ isTimed }) => isTimed).toSorted((a, b) => a.due - b.due);
  }

  /** Calls nobody back any more. */
  stop(): void {
    this.wakeUp.clear();
  }

  private sweep(now: number): void {
    const expired: T[] = [];
    for (let first = this.heap[0]; first; first = this.heap[0]) {
      if (first.isTimed && first.due > now) {
        this.wakeUp.at(first.due);
        break;
      }
      this.pop();
      if (!first.isTimed) continue;
      first.isTimed = false;
      this.size--;
      expired.push(first);
    }
    for (const item of expired) this.expire(item);
  }

  private push(item: T): void {
    const { heap } = this;
    let at = heap.length;
    for (let above = parent(at); at > 0; above = parent(at)) {
      const upper = heap[above];
      if (!upper || upper.due <= item.due) break;
      heap[at] = upper;
      at = above;
    }
    heap[at] = item;
  }

  private pop(): void {
    const { heap } = this;
    const item = heap.pop();
    if (!item || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const lower = right && left && right.due < left.due ? right : left;
      if (!lower || item.due <= lower.due) break;
      heap[at] = lower;
      at = lower === left ? 2 * at + 1 : 2 * at + 2;
    }
    heap[at] = item;
  }
}

function parent(position: number): number {
  return (position - 1) >> 1;
}
