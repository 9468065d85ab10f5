import type { LockSnapshot } from '../lock-snapshot.interface.js';
import {
  type AcquireRequest,
  type Extended,
  type Extension,
  type JointStore,
  type LockStore,
  type OwnerChange,
  type ShareRequest,
  type StoreEvents,
  type YieldRequest,
} from '../lock-store.js';
import { type Grant, isGrant, type SharedTerms, type Taken } from '../grant.js';
import { formatPlace } from '../place.js';
import type { MemoryLockServer } from './memory-lock-server.js';

/** Locks within one process: one instance's side of a {@link MemoryLockServer}. */
export class MemoryStore implements LockStore {
  readonly trouble = new Error('The memory store has been closed.');
  readonly joint: JointStore = {
    acquire: async (request) => this.server.acquireAll(this.instance, request),
    release: async (names, tag) => this.server.releaseAll(this.instance, names, tag),
  };
  private subscribed = false;

  constructor(
    private readonly server: MemoryLockServer,
    private readonly instance: string,
  ) {}

  open(events: StoreEvents): void {
    this.server.subscribe(this.instance, events);
    this.subscribed = true;
  }

  canQueue(): boolean {
    return this.subscribed;
  }

  place(claimTtl: number, tokens: number, shared?: SharedTerms): string {
    return formatPlace({ instance: this.instance, claimTtl, tokens, shared });
  }

  async acquire(request: AcquireRequest): Promise<Grant | Taken> {
    return known(this.server.acquire(this.instance, request), request);
  }

  async yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    const reply = this.server.yield(request);
    return reply && known(reply, request);
  }

  async release(name: string, owner: string): Promise<boolean> {
    return this.server.release(name, owner);
  }

  async extend(batch: readonly Extension[]): Promise<readonly Extended[]> {
    return batch.map((extension) => this.server.extend(extension));
  }

  async cancel(name: string, place: string): Promise<string | undefined> {
    return this.server.cancel(this.instance, name, place);
  }

  async transfer(change: OwnerChange): Promise<boolean> {
    return this.server.transfer(change);
  }

  async share(request: ShareRequest): Promise<Grant | undefined> {
    return this.server.share(this.instance, request);
  }

  async query(name: string): Promise<LockSnapshot> {
    return this.server.query(name);
  }

  async *list(beginning: string): AsyncGenerator<readonly LockSnapshot[], void> {
    yield this.server.list(beginning);
  }

  async send(instance: string, message: string): Promise<boolean> {
    return this.server.send(instance, message);
  }

  async forceRelease(name: string): Promise<boolean> {
    return this.server.forceRelease(name);
  }

  async close(): Promise<void> {
    this.subscribed = false;
    this.server.unsubscribe(this.instance);
  }
}

/** Memory has no replicas, and needs none: as many as are asked for count as knowing. */
function known(reply: Grant | Taken, { replicas }: Pick<AcquireRequest, 'replicas'>): Grant | Taken {
  return replicas && isGrant(reply) ? { ...reply, replicas: replicas.min } : reply;
}
