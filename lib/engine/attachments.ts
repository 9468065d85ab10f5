import { randomBytes } from 'node:crypto';
import { LockLostError } from '../errors/lock-lost.error.js';
import type { LockError } from '../errors/lock.error.js';
import { type HandedHold, ownerOfDetached } from '../handover/handover-string.js';
import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import { type OwnerChange, StoreRefusal } from '../store/lock-store.js';
import { formatOwner } from '../store/owner-id.js';
import { parsePlace } from '../store/place.js';
import type { Hold } from './hold.js';
import { Lease } from './lease.js';
import { LocalQueue } from './local-queue.js';
import { onAbort } from './on-abort.js';
import type { QueueContext } from './queue-context.js';
import { unavailableError } from './refusals.js';

const RETRY_DELAY = 50;
const MARK_BYTES = 8;

/** A hold that this instance has asked for and not got yet. */
interface Taking {
  readonly name: string;
  isRevoked: boolean;
  refuse(error: unknown): void;
}

/**
 * Holds that other instances have detached and this one goes on with.
 *
 * Each has a {@link LocalQueue} of its own in which nobody waits, so that it is kept, extended and lost like any other.
 * Callers of this instance that want the name wait for it in the store, as those of other instances do.
 */
export class Attachments {
  private readonly queues = new Set<LocalQueue>();
  private readonly taking = new Map<string, Taking>();
  /** Requests to take the hold of an owner id, until nothing of them is under way any more. */
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(private readonly context: QueueContext) {}

  get size(): number {
    return this.queues.size + this.underWay.size;
  }

  /** The queue whose lease has this owner id. */
  queueOf(owner: string): LocalQueue | undefined {
    for (const queue of this.queues) if (queue.leaseOf(owner)) return queue;
    return undefined;
  }

  delete(queue: LocalQueue): void {
    this.queues.delete(queue);
  }

  /** The hold was taken away by force; that may be told before the answer by which it came. */
  revoke(owner: string): void {
    this.queueOf(owner)?.revoke(owner);
    const taking = this.taking.get(owner);
    if (taking) taking.isRevoked = true;
  }

  /** Refuses all who have no answer yet. What was taken for them is given back when it comes. */
  refuseAll(error: (name: string) => unknown): void {
    for (const taking of [...this.taking.values()]) taking.refuse(error(taking.name));
  }

  /** Takes a detached hold over, or finds that it is over, or somebody else's by now. */
  take(handed: HandedHold, secret: string, options: ResolvedLockOptions): Promise<Hold> {
    const { clock, store } = this.context;
    const { name, token } = handed;
    const ttl = Math.max(options.ttl, Math.ceil(handed.minHold));
    const from = ownerOfDetached(secret, handed);
    const { instance } = parsePlace(store.place(0, 1));
    // Of its own for each try: the answer to an earlier one must not be taken for that to this one.
    const to = formatOwner({ instance, mark: randomBytes(MARK_BYTES).toString('hex'), token });
    const change: OwnerChange = { name, from, to, ttl };
    return new Promise((resolve, reject) => {
      const { signal } = options;
      let failure: unknown;
      const stop = (): void => {
        this.taking.delete(to);
        clock.cancel(timer);
        detach?.();
      };
      const taking: Taking = {
        name,
        isRevoked: false,
        refuse: (error) => {
          stop();
          reject(error);
        },
      };
      const isWanted = (): boolean => this.taking.has(to);
      const giveUp = (): void => {
        if (isWanted()) taking.refuse(unavailableError([name], failure ?? store.trouble));
      };
      const timer =
        options.outageTimeout === Infinity
          ? undefined
          : clock.schedule(() => clock.afterInput(giveUp), options.outageTimeout);
      const detach = signal && onAbort(signal, () => taking.refuse(signal.reason));
      this.taking.set(to, taking);
      void this.inTurn(from, async () => {
        const sentAt = clock.now();
        const taken = await this.ask(change, isWanted, (error) => (failure = error));
        if (!isWanted()) return taken === true ? this.giveBack(change) : undefined;
        if (taken === undefined) return giveUp();
        if (!taken) return taking.refuse(goneError(name));
        if (taking.isRevoked) return taking.refuse(revokedError(name));
        const lease = new Lease(name, { owner: to, token, tokens: 1 }, ttl, sentAt);
        if (lease.deadline <= clock.now()) {
          giveUp();
          return this.giveBack(change);
        }
        stop();
        resolve(this.begin(lease, { ...options, ttl, minHold: handed.minHold }));
      });
    });
  }

  /** Of two that want one hold here, the second asks when nothing of the first is under way any more. */
  private async inTurn(from: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.underWay.get(from) ?? Promise.resolve()).then(work);
    this.underWay.set(from, turn);
    await turn;
    if (this.underWay.get(from) === turn) this.underWay.delete(from);
  }

  /** Asks until there is an answer, nobody wants it any more, or the store refuses. */
  private async ask(
    change: OwnerChange,
    isWanted: () => boolean,
    failed: (error: unknown) => void,
  ): Promise<boolean | undefined> {
    const { clock, store } = this.context;
    while (isWanted()) {
      try {
        return await store.handOver?.(change);
      } catch (error) {
        failed(error);
        if (error instanceof StoreRefusal) return undefined;
        await new Promise<void>((resolve) => void clock.schedule(resolve, RETRY_DELAY));
      }
    }
    return undefined;
  }

  /** Nobody waits for the hold any more: the string is good again, here and elsewhere. */
  private async giveBack({ name, from, to, ttl }: OwnerChange): Promise<void> {
    await this.context.store.handOver?.({ name, from: to, to: from, ttl }).catch(() => undefined);
  }

  private begin(lease: Lease, options: ResolvedLockOptions): Hold {
    const queue = new LocalQueue(lease.name, this.context);
    this.queues.add(queue);
    return queue.adopt(lease, options);
  }
}

function goneError(name: string): LockError {
  return new LockLostError(
    'The detached hold is gone: it was taken over already, its lease ran out, somebody removed it, or it never was.',
    { keys: [name] },
  );
}

function revokedError(name: string): LockError {
  return new LockLostError('The lock was taken away by forceRelease.', { keys: [name] });
}
