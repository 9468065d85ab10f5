import type { LockStore } from '../lock-store.js';
import { formatPlace } from '../place.js';
import type { MemoryLockServer } from './memory-lock-server.js';

/** Creates the store of one instance on a {@link MemoryLockServer}. */
export function memoryStore(server: MemoryLockServer, instance: string): LockStore {
  return {
    trouble: new Error('The memory store has been closed.'),
    marks: {
      read: async (name) => server.mark(name),
      keep: async (request) => server.keep(request),
      delete: async (name) => server.deleteMark(name),
    },
    operations: {
      query: async (name) => server.query(name),
      async *list(beginning) {
        yield server.list(beginning);
      },
      forceRelease: async (name, owners) => server.forceRelease(name, owners),
    },
    open: (events) => server.inboxes.open(instance, events),
    wakesBy: () => (server.inboxes.has(instance) ? 'message' : undefined),
    place: (claimTtl, wanted, shared) => formatPlace({ instance, claimTtl, wanted, shared }),
    acquire: async (request) => server.acquire(instance, request),
    share: async (request) => server.share(instance, request),
    yield: async (request) => server.yield(request),
    release: async (name, owner) => server.release(name, owner),
    extend: async (batch) => batch.map((extension) => server.extend(extension)),
    cancel: async (name, left) => server.cancel(instance, name, left),
    transfer: async (changes) => server.transfer(changes),
    send: async (to, message) => server.inboxes.send(to, (inbox) => inbox.told(message)),
    close: async () => server.inboxes.close(instance),
  };
}
