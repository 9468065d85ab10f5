/** An item that belongs to at most one {@link Fifo}. */
export interface FifoNode<T> {
  previous: T | undefined;
  next: T | undefined;
}

/**
 * Items in arrival order, each removable in O(1).
 *
 * For frequently changing items, even where order does not matter. A growing Map or Set leaves its old table behind,
 * with a link to the next one. Once such a table is in V8's old generation, the young generation keeps all later tables
 * and their items alive and copies them repeatedly.
 */
export class Fifo<T extends FifoNode<T>> {
  first: T | undefined;
  size = 0;
  private last: T | undefined;

  has(item: T): boolean {
    return item.previous !== undefined || this.first === item;
  }

  /** Appends an item, unless it is already present. */
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

  /** Iterates over the items in order; the current item may be removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    for (let item = this.first; item;) {
      const next: T | undefined = item.next;
      yield item;
      item = next;
    }
  }
}
