import type { Clock } from './clock.js';
import { AnswerWakeUp } from './wake-up.js';

/**
 * Deadlines of deleted items stay in the heap, emptied. The heap is compacted at this number plus twice the live items.
 */
const MAX_LEFT = 64;

/** The deadline of an item; emptied when the item leaves, so that the item can be collected. */
interface Deadline<T> {
  readonly due: number;
  item: T | undefined;
}

/** An item with a deadline. */
export interface Timed {
  /** On {@link Clock.now}'s scale. */
  readonly due: number;
  /** Its entry in a {@link Deadlines}. */
  deadline: Deadline<unknown> | undefined;
}

/**
 * Calls back for items that are still present at their deadline, with one timer for all items.
 *
 * A binary heap. Most items arrive in the order of their deadlines and leave before them; both operations are O(1) on
 * average.
 */
export class Deadlines<T extends Timed> {
  /** Number of live items. */
  size = 0;
  private heap: Deadline<T>[] = [];
  private readonly wakeUp: AnswerWakeUp;

  constructor(
    clock: Clock,
    private readonly expire: (item: T) => void,
  ) {
    this.wakeUp = new AnswerWakeUp(clock, (now) => this.sweep(now));
  }

  /**
   * Calls back at the item's `due`, unless the item is deleted before. Has no effect for an item that was already
   * added.
   */
  add(item: T): void {
    const { due } = item;
    if (due === Infinity || item.deadline) return;
    const deadline = { due, item };
    item.deadline = deadline;
    this.size++;
    this.push(deadline);
    this.wakeUp.at(due);
  }

  delete(item: T): void {
    const { deadline } = item;
    if (!deadline) return;
    deadline.item = item.deadline = undefined;
    this.size--;
    if (this.size === 0) this.heap = [];
    // A sorted array is a heap.
    else if (this.heap.length > 2 * this.size + MAX_LEFT)
      this.heap = this.heap.filter((each) => each.item).toSorted((a, b) => a.due - b.due);
  }

  /** Stops all callbacks. */
  stop(): void {
    this.wakeUp.clear();
  }

  private sweep(now: number): void {
    const expired: T[] = [];
    for (let first = this.heap[0]; first; first = this.heap[0]) {
      const { due, item } = first;
      if (item && due > now) {
        this.wakeUp.at(due);
        break;
      }
      this.pop();
      if (!item) continue;
      item.deadline = undefined;
      this.size--;
      expired.push(item);
    }
    for (const item of expired) this.expire(item);
  }

  private push(deadline: Deadline<T>): void {
    const { heap } = this;
    let at = heap.length;
    for (let above = parent(at); at > 0; above = parent(at)) {
      const upper = heap[above];
      if (!upper || upper.due <= deadline.due) break;
      heap[at] = upper;
      at = above;
    }
    heap[at] = deadline;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const lower = right && left && right.due < left.due ? right : left;
      if (!lower || last.due <= lower.due) break;
      heap[at] = lower;
      at = lower === left ? 2 * at + 1 : 2 * at + 2;
    }
    heap[at] = last;
  }
}

function parent(position: number): number {
  return (position - 1) >> 1;
}
