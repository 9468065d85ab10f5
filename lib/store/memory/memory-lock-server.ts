import type { LockInfo, LockSnapshot } from '../../interfaces/lock.interface.js';
import type {
  AcquireRequest,
  Extension,
  Grant,
  OwnerChange,
  StoreEvents,
  Taken,
  YieldRequest,
} from '../lock-store.js';
import { instanceOf } from '../owner-id.js';
import { parsePlace } from '../place.js';

interface KeptLock {
  readonly owner: string;
  readonly expiresAt: number;
}

/** Blocks shrink to one token while the last token is ahead of the clock by more than this. */
const MAX_TOKENS_AHEAD = 10_000;

/**
 * What Redis is to the Redis store, within one process: the locks, the queues and the inboxes of several instances.
 *
 * Each method does what the Lua script of the same name does, as atomically.
 *
 * @example
 * ```ts
 * const server = new MemoryLockServer();
 * const replicas = [1, 2].map(() => Test.createTestingModule({ imports: [LockTestingModule.forRoot({ server })] }));
 * ```
 */
export class MemoryLockServer {
  private readonly locks = new Map<string, KeptLock>();
  private readonly queues = new Map<string, Map<string, number>>();
  private readonly inboxes = new Map<string, StoreEvents>();
  private lastToken = 0;

  /** @param now the time in milliseconds since 1970; by default the system's, fake timers respected. */
  constructor(private readonly now: () => number = () => Date.now()) {}

  /** @internal */
  subscribe(instance: string, events: StoreEvents): void {
    this.inboxes.set(instance, events);
  }

  /** @internal */
  unsubscribe(instance: string): void {
    this.inboxes.delete(instance);
  }

  /** Forgets everything, as FLUSHALL does: holders notice at their next renewal. Tokens go on growing. */
  clear(): void {
    this.locks.clear();
    this.queues.clear();
  }

  /** @internal */
  acquire(instance: string, { name, ttl, tokens, place, spent }: AcquireRequest): Grant | Taken {
    let kept = this.kept(name);
    if (kept?.owner.startsWith(`${instance}:`)) {
      const token = Number(kept.owner.slice(instance.length + 1));
      if (token > spent) {
        this.prolong(name, kept, ttl);
        if (place !== undefined) this.dequeue(name, place);
        return { owner: kept.owner, token, tokens: 1 };
      }
      this.locks.delete(name);
      kept = undefined;
    }
    if (place !== undefined) this.enqueue(name, place);
    if (!kept) {
      const owner = this.handOff(name, place);
      if (!owner || owner === place) return this.grant(name, instance, ttl, tokens);
    }
    return this.taken(name);
  }

  /** @internal */
  yield({ name, owner, ttl, tokens, place }: YieldRequest): Grant | Taken | undefined {
    if (this.kept(name)?.owner !== owner) return undefined;
    if (this.handOff(name)) {
      if (place !== undefined) this.enqueue(name, place);
      return this.taken(name);
    }
    return this.grant(name, owner.slice(0, owner.lastIndexOf(':')), ttl, tokens);
  }

  /** @internal */
  release(name: string, owner: string): boolean {
    if (this.kept(name)?.owner !== owner) return false;
    if (!this.handOff(name)) this.locks.delete(name);
    return true;
  }

  /** @internal */
  extend({ name, owner, ttl, exact }: Extension): boolean {
    const kept = this.kept(name);
    if (kept?.owner !== owner) return false;
    if (exact) this.keep(name, owner, ttl);
    else this.prolong(name, kept, ttl);
    return true;
  }

  /** @internal */
  handOver({ name, from, to, ttl }: OwnerChange): boolean {
    const owner = this.kept(name)?.owner;
    if (owner === from) this.keep(name, to, ttl);
    return owner === from || owner === to;
  }

  /** @internal */
  cancel(instance: string, name: string, place: string): string | undefined {
    this.dequeue(name, place);
    const owner = this.kept(name)?.owner;
    return owner?.startsWith(`${instance}:`) ? owner : undefined;
  }

  /** @internal */
  forceRelease(name: string): boolean {
    const owner = this.kept(name)?.owner;
    if (owner === undefined) return false;
    const inbox = this.inboxes.get(instanceOf(owner));
    if (inbox) deliver(() => inbox.revoked(name, owner));
    if (!this.handOff(name)) this.locks.delete(name);
    return true;
  }

  /** @internal */
  query(name: string): LockSnapshot {
    const now = this.now();
    const kept = this.kept(name);
    const token = Number(kept?.owner.split(':').at(-1));
    const holder: LockInfo[] = kept
      ? [
          {
            ...exclusive(name, kept.owner, token / 1_000),
            fencingToken: token,
            remaining: kept.expiresAt - now,
          },
        ]
      : [];
    const pending = [...(this.queues.get(name) ?? [])].map(([place, since]) => ({
      ...exclusive(name, parsePlace(place).instance, since),
      waited: now - since,
    }));
    return { held: holder, pending };
  }

  private kept(name: string): KeptLock | undefined {
    const kept = this.locks.get(name);
    if (!kept || kept.expiresAt > this.now()) return kept;
    this.locks.delete(name);
    return undefined;
  }

  private keep(name: string, owner: string, ttl: number): void {
    this.locks.set(name, { owner, expiresAt: this.now() + Math.ceil(ttl) });
  }

  private prolong(name: string, { owner, expiresAt }: KeptLock, ttl: number): void {
    if (expiresAt < this.now() + ttl) this.keep(name, owner, ttl);
  }

  private grant(name: string, instance: string, ttl: number, tokens: number): Grant {
    const block = this.mint(tokens);
    const owner = `${instance}:${block.token}`;
    this.keep(name, owner, ttl);
    return { owner, ...block };
  }

  private taken(name: string): Taken {
    const kept = this.kept(name);
    const remaining = kept && kept.expiresAt - this.now();
    return { owner: kept?.owner ?? '', remaining, mark: this.mark() };
  }

  private mint(wanted: number): { token: number; tokens: number } {
    const now = this.micros();
    const tokens = this.lastToken > now + MAX_TOKENS_AHEAD ? 1 : wanted;
    const token = Math.max(this.lastToken + 1, now);
    this.lastToken = token + tokens - 1;
    return { token, tokens };
  }

  /** Counts as a token: unlike on Redis, a later one might be minted within the same tick of the clock. */
  private mark(): number {
    this.lastToken = Math.max(this.lastToken, this.micros());
    return this.lastToken;
  }

  private micros(): number {
    return Math.floor(this.now() * 1_000);
  }

  /** The new owner id, `own` when that is the head of the queue, or undefined when nobody waits. */
  private handOff(name: string, own?: string): string | undefined {
    for (const place of this.queues.get(name)?.keys() ?? []) {
      this.dequeue(name, place);
      if (place === own) return own;
      const { instance, claim, tokens } = parsePlace(place);
      const inbox = this.inboxes.get(instance);
      if (!inbox) continue;
      const grant = this.grant(name, instance, claim, tokens);
      deliver(() => inbox.granted(name, grant, claim));
      return grant.owner;
    }
    return undefined;
  }

  private enqueue(name: string, place: string): void {
    let queue = this.queues.get(name);
    if (!queue) this.queues.set(name, (queue = new Map()));
    if (!queue.has(place)) queue.set(place, this.now());
  }

  private dequeue(name: string, place: string): void {
    const queue = this.queues.get(name);
    if (queue?.delete(place) && queue.size === 0) this.queues.delete(name);
  }
}

function exclusive(name: string, owner: string, since: number): LockInfo {
  return { name, mode: 'exclusive', owner, since: new Date(since) };
}

/** Messages arrive after the call that caused them, as they do from Redis. */
function deliver(message: () => void): void {
  void Promise.resolve().then(message);
}
