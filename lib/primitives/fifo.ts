/** An item that stands in at most one {@link Fifo}. */
export interface FifoNode<T> {
  previous: T | undefined;
  next: T | undefined;
}

/**
 * Items in the order of their arrival, of which any can leave in O(1).
 *
 * For what comes and goes all the time, also where no order is asked for: a Map or a Set leaves a table behind each time it
 * has made room, with a link to the next one. Once such a table is in V8's old generation the young one keeps all that follow, and
 * what stood in them, and copies it again and again.
 */
export class Fifo<T extends FifoNode<T>> {
  first: T | undefined;
  size = 0;
  private last: T | undefined;

  has(item: T): boolean {
    return item.previous !== undefined || this.first === item;
  }

  /** Puts an item at the end, unless it is there. */
  push(item: T): void {
    if (this.has(item)) return;
    item.previous = this.last;
    if (this.last) this.last.next = item;
    else this.first = item;
    this.last = item;
    this.size++;
  }

  remove(item: T): void {
    if (!this.has(item)) return;
    if (item.previous) item.previous.next = item.next;
    else this.first = item.next;
    if (item.next) item.next.previous = item.previous;
    else this.last = item.previous;
    item.previous = item.next = undefined;
    this.size--;
  }

  /** The items in order; the one just visited may be removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    for (let item = this.first; item;) {
      const next: T | undefined = item.next;
      yield item;
      item = next;
    }
  }
}
