import type { LockConfigError } from '../errors/lock.error.js';
import type { Grant, ReplicaDemand, SharedTerms, Shares, Taken } from './grant.js';
import type { MarkStore } from './mark.js';
import type { StoreOperations } from './store-operations.js';

export interface AcquireRequest {
  readonly name: string;
  readonly ttl: number;
  /** Number of fencing tokens to reserve. */
  readonly tokens: number;
  /** The place to take in the queue if the lock is taken; undefined to ask without queueing. */
  readonly place: string | undefined;
  /**
   * The highest token whose lease has ended here: a lock in the store with at most this token counts as free, not as a
   * grant.
   */
  readonly endedToken: number;
  /** Replaces `endedToken` if the store has queued this instance: every later grant of the name is a hand-off to it. */
  readonly endedTokenOfName?: number | undefined;
  /** Called when servers have answered and the request continues, because several instances contend for the lock. */
  readonly onContention?: (() => void) | undefined;
  /** Replicas that must confirm a grant before it counts; too few reject with {@link TooFewReplicas}. */
  readonly replicas?: ReplicaDemand | undefined;
}

export interface YieldRequest extends Omit<AcquireRequest, 'endedToken' | 'endedTokenOfName'> {
  readonly owner: string;
}

/** A request for shared holds. A repeated one is granted the same holds. */
export interface ShareRequest extends Pick<
  AcquireRequest,
  'name' | 'ttl' | 'place' | 'endedToken' | 'replicas'
> {
  readonly terms: SharedTerms;
  /** Number of wanted holds that the instance does not know; the store grants as many as it can. */
  readonly holds: number;
  /** The instance knows all of its holds with tokens up to this one. */
  readonly since: number;
  /** Greater tokens of holds that the instance knows, or that have ended in it. */
  readonly known: readonly number[];
}

export interface Extension {
  readonly name: string;
  readonly owner: string;
  readonly ttl: number;
  /**
   * Also shortens a longer lease. No other hold may use the owner id afterwards, because this request may arrive late.
   */
  readonly exact: boolean;
  /** Replicas that must confirm the extension before it counts. */
  readonly replicas?: ReplicaDemand | undefined;
}

/**
 * The result of an extension: 0 if the owner no longer had the lock; undefined if that is unknown, or too few replicas
 * confirmed in time. A number greater than the requested ttl is the duration of a longer lease in milliseconds. Any
 * other number means that the lease is renewed.
 */
export type Extended = number | undefined;

/** The transfer of a lock from one owner id to another. */
export interface OwnerChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** Milliseconds of the new lease. */
  readonly ttl: number;
}

/**
 * The outcome of a transfer:
 * - transferred: the new owner ids have all locks.
 * - taken: nothing was changed. Another caller may have attached the locks, and may return them.
 * - gone: nothing was changed, and nobody can transfer the locks any more, because one of them has ended. Others may be left.
 */
export type Transferred = 'transferred' | 'taken' | 'gone';

/** A time in which a released lock is free for clients of other packages, which poll. */
export interface Gap {
  readonly length: number;
  /** Milliseconds for which all turns of the name end with a gap; 0 if no client of another package is known. */
  readonly memory: number;
  /** The place that the releasing instance takes in the queue; undefined without waiters. */
  readonly place: string | undefined;
}

/** How an instance waits in the queue of a name. */
export interface Waiting {
  /** Undefined if it has no place. */
  readonly place: string | undefined;
  /** For shared holds; undefined for the exclusive lock. */
  readonly shared?: Pick<ShareRequest, 'terms' | 'since'> | undefined;
}

/** Events of a store. */
export interface StoreEvents {
  /** The lock, or shared holds, were handed to this waiting instance, with leases of only `claimTtl` ms. */
  granted(name: string, grants: readonly Grant[], claimTtl: number): void;
  /** The hold of `owner` was released forcibly. */
  revoked(name: string, owner: string): void;
  /** The lock is free for `length` ms, after which waiters here should ask. */
  gap(name: string, gap: Omit<Gap, 'place'>): void;
  /** The lock may be free, and waiters here should ask. For stores that hand no lock over. */
  released(name: string): void;
  /**
   * Another instance checks whether a caller still waits at this place. If none does, this instance must leave the
   * queue.
   */
  askedIfWaiting(name: string, place: string): void;
  /** Whether callers here hold or want the name, so that the store must listen for it. */
  isInUse(name: string): boolean;
  /** A run of this name has left its result, for callers that wait here. */
  done(name: string): void;
  /** Another instance has sent a message. */
  told(message: string): void;
  /** Grants of this name, or of all names, can be received (again): waiters should ask. */
  subscribed(name?: string): void;
  /** Commands can be sent again after an interruption: every lease is in doubt. */
  reconnected(): void;
  /** The store cannot be used with its configuration; undefined if it can (again). */
  unusable(reason: LockConfigError | undefined): void;
}

/**
 * How a waiting instance learns that it can have a lock:
 * - message: a hand-off would currently reach it. It asks again after a second at most.
 * - poll: it receives no messages, and asks ten times a second.
 */
export type Waking = 'message' | 'poll';

/**
 * Keeps locks. Every call is one round trip and rejects without a reply; each request may be sent twice. A store does
 * not know callers: it handles one instance, with one bid for each name.
 */
export interface LockStore {
  /** Connects before the first request, except with `lazyConnect`. Undefined for stores without a network. */
  connect?(): void;
  /** Connects, and starts to listen for grants. Called once, before the first acquire. */
  open(events: StoreEvents): void;
  /** How a waiter of this name learns that it can have the lock; undefined if it must not queue for now. */
  wakesBy(name: string): Waking | undefined;
  /**
   * Listens for a name with waiters until it is no longer in use, in stores that listen to each name separately. They
   * report when they listen.
   */
  listen?(name: string): void;
  /**
   * Reports that a waiting instance has asked again without a message: the store tries whether messages of the name still
   * arrive.
   */
  doubt?(name: string): void;
  /** Keeps the results of runs; undefined for stores that keep locks in several places. */
  readonly marks?: MarkStore | undefined;
  readonly operations: StoreOperations;
  /** Maximum number of leases in one extension, if limited. */
  readonly maxBatch?: number | undefined;
  /** Why there is no reply, as far as the store knows. */
  readonly trouble: Error;
  /** The place of a waiting instance in the queue, with its claim lease and the wanted tokens or holds. */
  place(claimTtl: number, wanted: number, shared?: SharedTerms): string;
  acquire(request: AcquireRequest): Promise<Grant | Taken>;
  /** Acquires shared holds. Undefined for stores without shared mode. */
  share?(request: ShareRequest): Promise<Shares>;
  /**
   * Hands the lock to another waiting instance, or keeps it as a new grant if none waits. Resolves to undefined if the
   * lock was lost.
   */
  yield(request: YieldRequest): Promise<Grant | Taken | undefined>;
  /**
   * Releases a lock; resolves to whether the owner still had it. If other instances may wait, they are notified first.
   * With a gap, an exclusive lock is handed to no waiting instance, so that a client that polls can acquire it.
   */
  release(name: string, owner: string, isAwaited?: boolean, gap?: Gap): Promise<boolean>;
  /** Whether a gap notifies the first waiting instance, and queues the releasing one. */
  readonly announcesGaps?: boolean;
  extend(batch: readonly Extension[]): Promise<readonly Extended[]>;
  /**
   * Leaves the queue. Resolves to the owner ids that the store keeps for this instance: of the exclusive lock, or of
   * shared holds with these terms and tokens greater than `since`.
   */
  cancel(name: string, waiting: Waiting): Promise<readonly string[]>;
  /**
   * Transfers the locks of one hold to other owner ids, all or none. A repeated request has the same outcome. The reply may
   * take long. Undefined for stores whose holds stay with their instance.
   *
   * On several servers, the first name decides which of several callers attaches the hold. It is transferred first; to
   * return the hold, it is transferred last.
   */
  transfer?(changes: readonly OwnerChange[], decider?: 'first' | 'last'): Promise<Transferred>;
  /**
   * Sends a message to another instance; resolves to false if it reached no listener. Undefined for stores without
   * messages.
   */
  send?(instance: string, message: string): Promise<boolean>;
  /** Closes the connections that the store opened. */
  close(): Promise<void>;
}
