import type { LocalQueue } from './local-queue.js';

/** Where a queue stands; empty once its name is idle. */
interface Slot {
  queue: LocalQueue | undefined;
}

/**
 * The local queues of one instance, by name.
 *
 * A Map in which names come and go leaves old tables behind, each with a link to the next. Once one of them is in V8's old
 * generation, the young one keeps all after it, with whatever stood in them, and copies it again and again. So a queue that
 * has left is not there to be copied: its slot is empty.
 */
export class LocalQueues {
  private readonly slots = new Map<string, Slot>();

  get size(): number {
    return this.slots.size;
  }

  get(name: string): LocalQueue | undefined {
    return this.slots.get(name)?.queue;
  }

  add(queue: LocalQueue): void {
    this.slots.set(queue.name, { queue });
  }

  /** False where another queue has its name, or none. */
  delete(queue: { readonly name: string }): boolean {
    const slot = this.slots.get(queue.name);
    if (slot?.queue !== queue) return false;
    slot.queue = undefined;
    return this.slots.delete(queue.name);
  }

  *[Symbol.iterator](): Generator<LocalQueue> {
    for (const { queue } of this.slots.values()) if (queue) yield queue;
  }
}
