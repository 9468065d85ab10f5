import type { Clock } from './clock.js';
import { WakeUp } from './wake-up.js';

/**
 * Calls back for items that are still there when their time is over, with one timer for all of them.
 *
 * Items with the same duration stand in one list in order of their start, so adding and deleting are O(1).
 * An item costs no timer until it is watched, nor one of its own after that.
 */
export class Deadlines<T> {
  private readonly lists = new Map<number, Map<T, number>>();
  private readonly wakeUp: WakeUp;

  constructor(
    clock: Clock,
    private readonly expire: (item: T) => void,
  ) {
    this.wakeUp = new WakeUp(clock, (now) => this.sweep(now));
  }

  /** The item's time is over at `start + duration`. Items must come in the order of their start. */
  add(item: T, start: number, duration: number): void {
    if (duration === Infinity) return;
    let list = this.lists.get(duration);
    if (!list) this.lists.set(duration, (list = new Map()));
    list.set(item, start + duration);
  }

  /** Sees to it that the item that was added with this start and duration is called back. */
  watch(start: number, duration: number): void {
    this.wakeUp.at(start + duration);
  }

  delete(item: T, duration: number): void {
    const list = this.lists.get(duration);
    if (!list?.delete(item) || list.size > 0) return;
    this.lists.delete(duration);
    if (this.lists.size === 0) this.wakeUp.clear();
  }

  private sweep(now: number): void {
    const expired: T[] = [];
    for (const [duration, list] of this.lists) {
      for (const [item, due] of list) {
        if (due > now) {
          this.wakeUp.at(due);
          break;
        }
        list.delete(item);
        expired.push(item);
      }
      if (list.size === 0) this.lists.delete(duration);
    }
    for (const item of expired) this.expire(item);
  }
}
