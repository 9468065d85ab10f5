/** Where a queue stands; empty once its name is idle. */
interface Slot<Queue> {
  queue: Queue | undefined;
}

/**
 * The local queues of one instance, by name. What `Fifo` tells of a Map holds for this one, too; but a queue that has left
 * is not there to be copied, since its slot is empty.
 */
export class LocalQueues<Queue extends { readonly name: string }> {
  private readonly slots = new Map<string, Slot<Queue>>();

  get size(): number {
    return this.slots.size;
  }

  get(name: string): Queue | undefined {
    return this.slots.get(name)?.queue;
  }

  add(queue: Queue): void {
    this.slots.set(queue.name, { queue });
  }

  /** False where another queue has its name, or none. */
  delete(queue: Queue): boolean {
    const slot = this.slots.get(queue.name);
    if (slot?.queue !== queue) return false;
    slot.queue = undefined;
    return this.slots.delete(queue.name);
  }

  *[Symbol.iterator](): Generator<Queue> {
    for (const { queue } of this.slots.values()) if (queue) yield queue;
  }
}
