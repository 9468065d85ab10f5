import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { Deadlines, type Timed } from '../../primitives/deadlines.js';
import { Fifo, type FifoNode } from '../../primitives/fifo.js';
import type { Grant, TakenName } from '../../store/grant.js';
import { JOINT_TAG, tagIn } from '../../store/owner-id.js';
import { isRefusal } from '../../store/store-errors.js';
import { unavailableError } from '../lock-errors.js';
import { Caller } from './caller.js';
import { Hold } from './hold.js';
import { Lease } from './lease.js';
import type { Leases } from './leases.js';

/**
 * The holds of all names, or the taken names. The list is empty if the reply contains no names or an unusable grant. It
 * is undefined without a reply.
 */
export type JointOutcome =
  { readonly holds: readonly Hold[] } | { readonly taken: readonly TakenName[] | undefined };

/** Maximum number of names in one request, because the arguments of a Lua call are limited. */
const MAX_TOGETHER = 1_000;

/** One request for several names. */
class JointAcquire extends Caller<JointOutcome> implements FifoNode<JointAcquire>, Timed {
  previous: JointAcquire | undefined;
  next: JointAcquire | undefined;
  deadline: Timed['deadline'];
  /** Whether a hold was released forcibly; the message may arrive before the reply with the grant. */
  isRevoked = false;
  /** Whether it was sent twice: the first copy may have been granted, whatever the second reply says. */
  isResent = false;

  constructor(
    readonly tag: string,
    readonly names: readonly string[],
    readonly options: ResolvedLockOptions,
    readonly sentAt: number,
    resolve: (outcome: JointOutcome | Promise<JointOutcome>) => void,
    fail: (reason: unknown) => void,
  ) {
    super(resolve, fail);
    if (options.signal) this.follow(options.signal, (reason) => this.reject(reason));
  }

  get due(): number {
    const { outageTimeout, wait } = this.options;
    return this.sentAt + (wait === 0 ? outageTimeout : Math.min(outageTimeout, wait));
  }
}

/** Whether one request may ask for several names. */
export function mayGoTogether(names: readonly string[], { mode, replicas }: ResolvedLockOptions): boolean {
  return mode === 'exclusive' && !replicas && names.length <= MAX_TOGETHER;
}

/**
 * Requests for several names, all or none, that no other caller here holds or wants. A grant is one joint lease, which
 * belongs to no local queue.
 */
export class JointAcquires {
  private readonly all = new Fifo<JointAcquire>();
  private readonly outages: Deadlines<JointAcquire>;
  private count = 0;

  constructor(private readonly leases: Leases) {
    this.outages = new Deadlines(leases.clock, (acquire) =>
      acquire.reject(
        unavailableError(acquire.names, leases.store.trouble, {
          waited: leases.clock.now() - acquire.sentAt,
          label: acquire.options.label,
        }),
      ),
    );
  }

  get size(): number {
    return this.all.size;
  }

  /** Whether a caller has not received its reply yet. */
  get hasCallers(): boolean {
    return [...this.all].some(({ isWaiting }) => isWaiting);
  }

  acquire(names: readonly string[], options: ResolvedLockOptions): Promise<JointOutcome> {
    const { clock, store } = this.leases;
    const tag = JOINT_TAG + (++this.count).toString(36);
    return new Promise((resolve, reject) => {
      const acquire = new JointAcquire(tag, names, options, clock.now(), resolve, reject);
      this.all.push(acquire);
      this.outages.add(acquire);
      const answer = store.joint?.acquire({ names, tag, ttl: options.ttl }) ?? Promise.resolve([]);
      answer
        .then((reply) => this.handleReply(acquire, reply))
        .catch((error: unknown) => this.fail(acquire, error));
    });
  }

  /** Handles a forced release, whose message may arrive before the reply with the grant. */
  revoke(owner: string): void {
    const tag = tagIn(owner);
    for (const acquire of this.all) if (acquire.tag === tag) acquire.isRevoked = true;
  }

  /** Records that the connection was lost and unanswered requests were repeated. */
  noteResent(): void {
    for (const acquire of this.all) acquire.isResent = true;
  }

  /** Rejects all requests without a reply. */
  rejectAll(error: (names: readonly string[]) => unknown): void {
    for (const acquire of this.all) acquire.reject(error(acquire.names));
  }

  stop(): void {
    this.outages.stop();
  }

  private handleReply(acquire: JointAcquire, reply: Grant | readonly TakenName[]): void {
    this.forget(acquire);
    if (!('token' in reply)) return acquire.resolve({ taken: reply });
    const { names, options, sentAt } = acquire;
    const now = this.leases.clock.now();
    const lease = new Lease(names[0] ?? '', reply, options.ttl, sentAt);
    // Single requests can be repeated without this limit.
    const isLate = lease.deadline - now < options.ttl / 4;
    if (!acquire.isWaiting || acquire.isRevoked || isLate) {
      this.giveBack(acquire);
      return acquire.resolve({ taken: [] });
    }
    const { leases } = this;
    const holds = names.map((name) => new Hold([name], lease.takeToken(), leases, lease, options, now));
    lease.together = names;
    lease.holds = holds;
    lease.renew = options.renew;
    leases.beginJoint(lease, options);
    acquire.resolve({ holds });
  }

  /** Handles a failed request. Without a reply to its first copy, the names may have been granted. */
  private fail(acquire: JointAcquire, error: unknown): void {
    this.forget(acquire);
    if (acquire.isResent || !isRefusal(error)) this.giveBack(acquire);
    acquire.resolve({ taken: undefined });
  }

  private forget(acquire: JointAcquire): void {
    this.outages.delete(acquire);
    this.all.remove(acquire);
  }

  private giveBack({ tag, names, options }: JointAcquire): void {
    void this.leases.cleanUps.freeAll(names, tag, options.ttl);
  }
}
