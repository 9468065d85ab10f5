import { MemoryInboxes } from '../../lib/store/memory/memory-inboxes.js';
import type { MemoryLeases } from '../../lib/store/memory/memory-leases.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import type { StoreEvents } from '../../lib/store/lock-store.js';
import { constant } from './copy.js';
import type { Message } from './messages.js';

/** The names of the instances, and those of the locks. */
export const INSTANCES = ['a', 'b', 'c'];
export const NAMES = ['n', 'm'];
/** Milliseconds of every lease. */
export const TTL = 100;
/** Longest wait of a caller, and longest wait without an answer. */
export const WAIT = 350;

export const NO_EVENTS = constant<StoreEvents>({} as StoreEvents, 'events');

/** What a server and the rules of an instance need of a world. */
interface Surroundings {
  readonly now: number;
  readonly server: WorldServer;
  site(i: number): { readonly messages: Message[]; turns: number };
}

/** Copies of a server share its clock and the rules of its instances: they speak of the world that is being changed. */
let current: Surroundings;

export function enter(world: Surroundings): void {
  current = world;
}

export function currentWorld(): Surroundings {
  return current;
}

/** Puts messages on their way, instead of delivering them at the end of the tick. */
class WorldInboxes extends MemoryInboxes {
  override send(id: string, message: (inbox: StoreEvents) => void): boolean {
    if (!this.has(id)) return false;
    const { messages } = current.site(INSTANCES.indexOf(id));
    const put = (name: string, content: object): void =>
      void messages.push({ of: NAMES.indexOf(name), ...content } as Message);
    const events: Partial<StoreEvents> = {
      granted: (name, grant, claimTtl) => put(name, { kind: 'granted', grant, claimTtl }),
      revoked: (name, owner) => put(name, { kind: 'revoked', owner }),
      askedIfWaiting: (name, place) => put(name, { kind: 'asked', place }),
    };
    message(events as StoreEvents);
    return true;
  }
}

const now = (): number => current.now;

/** The memory server with the clock and the network of a world. */
export class WorldServer extends MemoryLockServer {
  override readonly inboxes = new WorldInboxes();

  constructor() {
    super(now);
  }

  keeps(name: string, owner: string): boolean {
    const { locks, shares } = this as unknown as Readonly<Record<'locks' | 'shares', MemoryLeases>>;
    return locks.has(name, owner) || shares.has(name, owner);
  }

  placesOf(name: string): Iterable<string> {
    return this.queues.of(name).keys();
  }
}
