import type { StoreEvents } from '../../lib/store/lock-store.js';
import { MemoryInboxes } from '../../lib/store/memory/memory-inboxes.js';
import type { MemoryLeases } from '../../lib/store/memory/memory-leases.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import type { Message } from './network.js';

/** Puts messages on their way, instead of delivering them at the end of the tick. */
class WorldInboxes extends MemoryInboxes {
  constructor(private readonly put: (id: string, message: Message) => void) {
    super();
  }

  override send(id: string, message: (inbox: StoreEvents) => void): boolean {
    if (!this.has(id)) return false;
    const recorder = {
      get:
        (_: object, kind: keyof StoreEvents) =>
        (...args: readonly unknown[]) =>
          this.put(id, { kind, args }),
    };
    message(new Proxy({}, recorder) as StoreEvents);
    return true;
  }
}

/** The memory server with the clock and the network of a world. */
export class WorldServer extends MemoryLockServer {
  constructor(now: () => number, put: (id: string, message: Message) => void) {
    super(now);
    const inboxes = new WorldInboxes(put);
    Object.assign(this, { inboxes });
    Object.assign(this.marks, { inboxes });
  }

  keeps(name: string, owner: string): boolean {
    const { locks, shares } = this as unknown as Readonly<Record<'locks' | 'shares', MemoryLeases>>;
    return locks.has(name, owner) || shares.has(name, owner);
  }

  placesOf(name: string): Iterable<string> {
    return this.queues.of(name).keys();
  }
}
