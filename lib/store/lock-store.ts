import type { LockSnapshot } from '../interfaces/lock.interface.js';

/** How many replicas have to know of a lease before anybody relies on it, and how many ms they have for that. */
export interface ReplicaDemand {
  readonly min: number;
  readonly timeout: number;
}

/** One turn of this instance for holds that others may have at the same time. */
export interface SharedTerms {
  /** Most holders at a time, whoever they are; Infinity where any number will do. */
  readonly limit: number;
  /** Tells this turn from all others of this instance: asked for again, it is granted the same holds. */
  readonly turn: string;
}

/** Who holds a lock that others may share: its owner ids are kept elsewhere. */
export const SHARED_OWNER = 'shared';

/** The lock of one name, given to this instance. */
export interface Grant {
  /**
   * Owner id `<instance>:<first token>`, the value under which the store keeps the lock. Of a shared grant that of its
   * first hold, `<instance>~<turn>:1`; see `ownersOf`.
   */
  readonly owner: string;
  /** The turn that a shared grant is for, maybe with more after it; it has as many holds as tokens. */
  readonly turn?: string;
  /** First fencing token of a block that is this grant's alone. */
  readonly token: number;
  /** How many tokens the block has. */
  readonly tokens: number;
  /** Replicas that know of it for certain; left out where none was asked. */
  readonly replicas?: number;
}

/** Somebody else has the lock. */
export interface Taken {
  readonly owner: string;
  /** Milliseconds that the holder's lease still runs; undefined where it has no end. */
  readonly remaining: number | undefined;
  /** Every fencing token minted after this answer is greater. */
  readonly mark: number;
}

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
  /** Replicas that have to know of a grant before it is answered; too few reject with {@link TooFewReplicas}. */
  readonly replicas?: ReplicaDemand | undefined;
}

export interface YieldRequest extends Omit<AcquireRequest, 'spent' | 'shared'> {
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

/** A lock that goes from one owner id to another. */
export interface OwnerChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** Milliseconds of the lease that begins then. */
  readonly ttl: number;
}

/** What a store tells the engine on its own. */
export interface StoreEvents {
  /** The lock was handed to this instance while it waited. The lease runs for `claim` ms only. */
  granted(name: string, grant: Grant, claim: number): void;
  /** The hold of `owner` was taken away by force. */
  revoked(name: string, owner: string): void;
  /** The lock may be free: whoever waits for it here should ask. For stores that hand no lock over. */
  released(name: string): void;
  /** The place of this instance keeps others waiting: it has to be left, should nobody here wait at it. */
  probed(name: string, place: string): void;
  /** Grants can be received (again), of this name or of all: whoever waits should ask. */
  subscribed(name?: string): void;
  /** Commands can be sent again after an interruption: every lease is in doubt. */
  reconnected(): void;
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
  /** Starts listening for grants. Called once, before the first request. */
  open(events: StoreEvents): void;
  /** Whether a grant of this name by hand-off would reach this instance just now. */
  canQueue(name: string): boolean;
  /** Somebody here waits for the name: for stores that have to listen to each by itself. They tell once they do. */
  listen?(name: string): void;
  /** Nobody here waits for the name any more. */
  ignore?(name: string): void;
  /** How many leases may be extended in one request, where that is limited. */
  readonly maxBatch?: number | undefined;
  /** Milliseconds after which a waiting instance asks again although it was told nothing; left out: a second. */
  readonly reaskDelay?: number | undefined;
  /** Why no answer comes, as far as the store knows. */
  readonly trouble: Error;
  /** The place in the queue under which an instance waits: with the claim lease and the tokens it wants. */
  place(claim: number, tokens: number, shared?: SharedTerms): string;
  acquire(request: AcquireRequest): Promise<Grant | Taken>;
  /**
   * Hands the lock to another waiting instance, or keeps it, as a new grant, where none waits. Undefined: it was lost.
   */
  yield(request: YieldRequest): Promise<Grant | Taken | undefined>;
  /** Resolves to whether the lock was still the owner's. */
  release(name: string, owner: string): Promise<boolean>;
  /**
   * Resolves, for each, to whether the lock was still the owner's; undefined where that could not be found out, or not as
   * many replicas learnt of it in time as have to.
   */
  extend(batch: readonly Extension[]): Promise<readonly (boolean | undefined)[]>;
  /**
   * Leaves the queue. Resolves to the owner id of a grant to this instance that was on its way; what a shared turn was
   * granted is given up with its place.
   */
  cancel(name: string, place: string): Promise<string | undefined>;
  /**
   * Resolves to whether the lock is `to`'s, now or since this was asked before. An answer may be long in coming. Left
   * out by stores whose holds stay with their instance.
   */
  handOver?(change: OwnerChange): Promise<boolean>;
  query(name: string): Promise<LockSnapshot>;
  forceRelease(name: string): Promise<boolean>;
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

/** The store answered with an error that asking again cannot cure: wrong credentials, missing rights, a foreign type of key. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
}

/** The store answered with an error that may pass: it is short of memory, loads its data, or takes no writes just now. */
export class PassingRefusal extends Error {
  override readonly name = 'PassingRefusal';
}

/** Whether asking again is of no use: a store that asks several servers says so when most of them refuse. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof StoreRefusal) return true;
  if (!(error instanceof AggregateError)) return false;
  return areMost(error, (each) => each instanceof Error && isRefusal(each.cause));
}

/** Whether most of the errors of several servers meet a condition. */
export function areMost({ errors }: AggregateError, condition: (error: unknown) => boolean): boolean {
  return errors.filter((each: unknown) => condition(each)).length * 2 > errors.length;
}

/** The lock was granted, but too few replicas learnt of it in time. The grant still stands, and has to be given back. */
export class TooFewReplicas extends Error {
  override readonly name = 'TooFewReplicas';

  constructor(
    readonly grant: Grant,
    readonly demand: ReplicaDemand,
    options?: ErrorOptions,
  ) {
    super(
      `Fewer than ${demand.min} replicas confirmed the grant within ${demand.timeout} ms (option replicas): ` +
        'are they connected, and is replicas.timeout long enough for them?',
      options,
    );
  }
}

export function isGrant(reply: Grant | Taken): reply is Grant {
  return 'token' in reply;
}
