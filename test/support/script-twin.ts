import { MemoryLockServer, type Own } from '../../lib/store/memory/memory-lock-server.js';
import { parsePlace } from '../../lib/store/place.js';

/**
 * A memory server whose callers may know of no modes. They hand no shared hold over: like a script without the key of shared
 * holders, they ask the waiter to acquire.
 */
export class ScriptTwin extends MemoryLockServer {
  /** Whether the next script is given the key of shared holders. */
  hasMetSharedMode = true;
  /** Whether a waiter for a shared hold was only asked to acquire, since this was set to false. */
  hasAsked = false;

  /** The owner and the shared holders with what is left of their leases, and the places in the queue. */
  contentOf(name: string): {
    alone: [string, number] | undefined;
    shared: [string, number][];
    queue: string[];
  } {
    const { held } = this.query(name);
    const leases = (mode: string): [string, number][] =>
      held.flatMap((each) => (each.mode === mode ? [[each.owner, each.remaining ?? -1]] : []));
    return {
      alone: leases('exclusive')[0],
      shared: leases('shared'),
      queue: [...this.queues.of(name).keys()],
    };
  }

  protected override handOff(name: string, own: Own = {}): string | undefined {
    const queue = [...this.queues.of(name).keys()];
    if (this.hasMetSharedMode || !queue.some((place) => parsePlace(place).shared))
      return super.handOff(name, own);
    for (const place of queue) {
      const { instance, wanted, shared } = parsePlace(place);
      if (shared) {
        if (this.inboxes.send(instance, (inbox) => inbox.released(name))) {
          this.hasAsked = true;
          return 'shared';
        }
      } else {
        if (place === own.place || this.inboxes.has(instance)) return super.handOff(name, own);
        this.tokens.mint(wanted);
      }
      this.queues.dequeue(name, place);
    }
    return undefined;
  }
}
