import { randomBytes } from 'node:crypto';
import { type HandedHold, markOf, ownerOfDetached } from '../handover/handover-string.js';
import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import { formatOwner } from '../store/owner-id.js';
import { parsePlace } from '../store/place.js';
import type { Hold } from './hold.js';
import type { Lease } from './lease.js';
import { LocalQueue } from './local-queue.js';
import type { QueueContext } from './queue-context.js';
import { Takeover } from './takeover.js';

const MARK_BYTES = 8;

/**
 * Holds that other instances have detached and this one goes on with.
 *
 * Each has a {@link LocalQueue} of its own in which nobody waits, so that it is kept, extended and lost like any other.
 * Callers of this instance that want the name wait for it in the store, as those of other instances do.
 */
export class Attachments {
  private readonly queues = new Set<LocalQueue>();
  private readonly takeovers = new Set<Takeover>();
  /** The last attempt for each detached hold that somebody here wants. */
  private readonly turns = new Map<string, Promise<void>>();

  constructor(private readonly context: QueueContext) {}

  get size(): number {
    return this.queues.size + this.turns.size;
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
    for (const takeover of this.takeovers) if (takeover.change.to === owner) takeover.isRevoked = true;
  }

  /** Refuses all who have no answer yet. */
  refuseAll(error: (name: string) => unknown): void {
    for (const takeover of [...this.takeovers]) takeover.refuse(error(takeover.change.name));
  }

  /** Takes a detached hold over, or finds that it is over, or somebody else's by now. */
  take(handed: HandedHold, secret: string, options: ResolvedLockOptions): Promise<Hold> {
    const { name, token, minHold, mode } = handed;
    const { instance } = parsePlace(this.context.store.place(0, 1));
    const ttl = Math.max(options.ttl, Math.ceil(minHold));
    const from = ownerOfDetached(secret, handed);
    // Of its own for each attempt: what a late request of one does must not look like the doing of another.
    const to = formatOwner({ instance, mark: markOf(mode, randomBytes(MARK_BYTES)), token });
    return new Promise((resolve, reject) => {
      const takeover = new Takeover(this.context, { name, from, to, ttl }, options, {
        begin: (lease) => resolve(this.begin(lease, { ...options, ttl, minHold })),
        refuse: reject,
      });
      this.takeovers.add(takeover);
      void this.inTurn(from, async () => {
        await takeover.run(token);
        this.takeovers.delete(takeover);
      });
    });
  }

  /** Of two that want one hold here, the second asks when nothing of the first is under way any more. */
  private async inTurn(from: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.turns.get(from) ?? Promise.resolve()).then(work);
    this.turns.set(from, turn);
    await turn;
    if (this.turns.get(from) === turn) this.turns.delete(from);
  }

  private begin(lease: Lease, options: ResolvedLockOptions): Hold {
    const queue = new LocalQueue(lease.name, this.context);
    this.queues.add(queue);
    return queue.adopt(lease, options);
  }
}
