/** Contains a queue; empty when its name is idle. */
interface Slot<Queue> {
  queue: Queue | undefined;
}

/**
 * The local queues of one instance, by name. A Map keeps removed entries alive, as `Fifo` explains; but here the slot
 * of a removed queue is empty.
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

  /** Removes a queue; returns false if its name has another queue or none. */
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
