import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';

/** The memory server with its queues in view. */
export class WorldServer extends MemoryLockServer {
  placesOf(name: string): Iterable<string> {
    return this.queues.of(name).keys();
  }
}
