/** An item that stands in at most one {@link Fifo}. */
export interface FifoNode<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A queue in arrival order from which any item can leave in O(1). */
export class Fifo<T extends FifoNode<T>> {
  first: T | undefined;
  size = 0;
  private last: T | undefined;

  push(item: T): void {
    item.previous = this.last;
    if (this.last) this.last.next = item;
    else this.first = item;
    this.last = item;
    this.size++;
  }

  remove(item: T): void {
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
