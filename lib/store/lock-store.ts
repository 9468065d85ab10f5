import type { LockConfigError } from '../errors/lock-config.error.js';
import type { Grant, ReplicaDemand, SharedTerms, Taken, TakenName } from './grant.js';
import type { ForcedRelease } from './forced-release.interface.js';
import type { LockSnapshot } from './lock-snapshot.interface.js';

export interface AcquireRequest {
  readonly name: string;
  readonly ttl: number;
  /** Fencing tokens to reserve; of shared holds as many as are wanted, and as many of them as can be had are granted. */
  readonly tokens: number;
  /** Asks for shared holds; left out for the lock alone. */
  readonly shared?: SharedTerms | undefined;
  /** The place in the queue to take when the lock is taken; undefined asks without queueing. */
  readonly place: string | undefined;
  /** Leases up to this token have ended here: found in the store, they count as free rather than as a grant. */
  readonly spent: number;
  /** Replaces `spent` where the store has told this instance to wait: any later grant of the name is a hand-off to it. */
  readonly spentOfName?: number | undefined;
  /** Called when servers have answered and the request goes on, since several instances contend for the lock. */
  readonly onContention?: (() => void) | undefined;
  /** Replicas that have to know of a grant before it is answered; too few reject with {@link TooFewReplicas}. */
  readonly replicas?: ReplicaDemand | undefined;
}

export interface YieldRequest extends Omit<AcquireRequest, 'spent' | 'spentOfName' | 'shared'> {
  readonly owner: string;
}

export interface Extension {
  readonly name: string;
  readonly owner: string;
  readonly ttl: number;
  /** Shortens a longer lease, too. The owner id must not be used for another hold after that: this may arrive late. */
  readonly exact: boolean;
  /** Replicas without whose knowledge the extension does not count. */
  readonly replicas?: ReplicaDemand | undefined;
}

/**
 * What an extension came to: 0 where the lock was not the owner's any more, undefined where that could not be found out, or
 * not as many replicas learnt of it in time as have to. A number that is greater than the ttl which was asked for is the
 * milliseconds for which the lease lasts all the same; otherwise it is renewed.
 */
export type Extended = number | undefined;

/** A lock that goes from one owner id to another. */
export interface OwnerChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** Milliseconds of the lease that begins then. */
  readonly ttl: number;
}

/** Asks for the locks of several names under one owner id. */
export interface JointRequest {
  readonly names: readonly string[];
  /** Stands in the owner id; another one in each request. */
  readonly tag: string;
  readonly ttl: number;
}

/** Where several locks can be had and given back in one request. */
export interface JointStore {
  /**
   * Resolves to one grant for all, or to those names that others have; to none of them where a name is not to be had
   * for another reason, such as a queue. Then nothing has changed.
   */
  acquire(request: JointRequest): Promise<Grant | readonly TakenName[]>;
  /** Releases those of the names that were granted under a tag and still are. */
  release(names: readonly string[], tag: string): Promise<unknown>;
}

/** What a store tells the engine on its own. */
export interface StoreEvents {
  /** The lock was handed to this instance while it waited. The lease runs for `claimTtl` ms only. */
  granted(name: string, grant: Grant, claimTtl: number): void;
  /** The hold of `owner` was taken away by force. */
  revoked(name: string, owner: string): void;
  /** The lock may be free: whoever waits for it here should ask. For stores that hand no lock over. */
  released(name: string): void;
  /** The place of this instance keeps others waiting: it has to be left, should nobody here wait at it. */
  askedIfWaiting(name: string, place: string): void;
  /** Another instance has sent a message. */
  told(message: string): void;
  /** Grants can be received (again), of this name or of all: whoever waits should ask. */
  subscribed(name?: string): void;
  /** Commands can be sent again after an interruption: every lease is in doubt. */
  reconnected(): void;
  /** The store cannot be used at all, as it is set up; undefined: it can (again). */
  unusable(reason: LockConfigError | undefined): void;
}

/** One of several servers behind a store. */
export interface StoreNode {
  /** Where it is, without credentials. */
  readonly name: string;
  /** Why it does not answer, without credentials; undefined where it does. */
  readonly trouble: string | undefined;
}

/**
 * Where locks are kept. Every call is one round trip and rejects when no answer comes; each may be sent twice.
 * A store knows nothing of callers: it deals with one instance and one turn of it per name.
 */
export interface LockStore {
  /**
   * Connects ahead of the first request, unless the user wants that left to it. Left out by stores without a network.
   */
  connect?(): void;
  /** Connects, and starts listening for grants. Called once, before the first lock is asked for. */
  open(events: StoreEvents): void;
  /** Whether a grant of this name by hand-off would reach this instance just now. */
  canQueue(name: string): boolean;
  /** Somebody here waits for the name: for stores that have to listen to each by itself. They tell once they do. */
  listen?(name: string): void;
  /** Nobody here waits for the name any more. */
  ignore?(name: string): void;
  /** Grants several names together; left out by stores whose locks are not all in one place. */
  readonly joint?: JointStore | undefined;
  /** How many leases may be extended in one request, where that is limited. */
  readonly maxBatch?: number | undefined;
  /** Milliseconds after which a waiting instance asks again although it was told nothing; left out: a second. */
  readonly reaskDelay?: number | undefined;
  /** Why no answer comes, as far as the store knows. */
  readonly trouble: Error;
  /** The place in the queue under which an instance waits: with the claim lease and the tokens it wants. */
  place(claimTtl: number, tokens: number, shared?: SharedTerms): string;
  acquire(request: AcquireRequest): Promise<Grant | Taken>;
  /**
   * Hands the lock to another waiting instance, or keeps it, as a new grant, where none waits. Undefined: it was lost.
   */
  yield(request: YieldRequest): Promise<Grant | Taken | undefined>;
  /** Resolves to whether the lock was still the owner's. Where others may wait for it, these are told first. */
  release(name: string, owner: string, isAwaited?: boolean): Promise<boolean>;
  extend(batch: readonly Extension[]): Promise<readonly Extended[]>;
  /**
   * Leaves the queue. Resolves to the owner id of a grant to this instance that was on its way; what a shared turn was
   * granted is given up with its place.
   */
  cancel(name: string, place: string): Promise<string | undefined>;
  /**
   * Resolves to whether the lock is `to`'s, now or since this was asked before. An answer may be long in coming. Left
   * out by stores whose holds stay with their instance.
   */
  transfer?(change: OwnerChange): Promise<boolean>;
  query(name: string): Promise<LockSnapshot>;
  /** The names that begin so and are held, some at a time: those that are held all the time, maybe twice, and some others. */
  list(beginning: string): AsyncIterable<readonly LockSnapshot[]>;
  /** Ends the holds of these owner ids, or every hold where `owners` is left out. */
  forceRelease(name: string, owners?: readonly string[]): Promise<ForcedRelease>;
  /**
   * Sends a message to another instance; resolves to false where nobody heard it. Left out by stores whose instances hear
   * nothing.
   */
  send?(instance: string, message: string): Promise<boolean>;
  /**
   * Milliseconds of a request and its answer, once requests can be sent; does not connect for it. Left out by stores
   * without a network.
   */
  roundTrip?(): Promise<number>;
  /** Asks each of several servers whether it answers, for at most `timeout` ms; a store with one server has no such question. */
  nodes?(timeout: number): Promise<readonly StoreNode[]>;
  /** Closes what the store opened. */
  close(): Promise<void>;
}
