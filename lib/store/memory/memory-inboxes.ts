import type { StoreEvents } from '../lock-store.js';

/** Delivers messages to instances. */
export class MemoryInboxes {
  private readonly inboxes = new Map<string, StoreEvents>();

  open(instance: string, events: StoreEvents): void {
    this.inboxes.set(instance, events);
  }

  close(instance: string): void {
    this.inboxes.delete(instance);
  }

  has(instance: string): boolean {
    return this.inboxes.has(instance);
  }

  /** Sends a message, which arrives after the causing call, as from Redis. Returns whether the instance listens. */
  send(instance: string, message: (inbox: StoreEvents) => void): boolean {
    const inbox = this.inboxes.get(instance);
    if (inbox) void Promise.resolve(inbox).then(message);
    return inbox !== undefined;
  }
}
