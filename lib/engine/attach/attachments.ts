import { randomBytes } from 'node:crypto';
import { type DetachedHold, tagOf, ownerOfDetached } from '../hold/transfer-string.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { formatOwner } from '../../store/owner-id.js';
import { parsePlace } from '../../store/place.js';
import type { Hold } from '../hold/hold.js';
import type { Lease } from '../hold/lease.js';
import type { LeaseContext } from '../hold/lease-context.js';
import type { UnqueuedLeases } from '../hold/unqueued-leases.js';
import { Takeover } from './takeover.js';

const TAG_BYTES = 8;

/** Holds that other instances have detached and this one goes on with. */
export class Attachments {
  private readonly takeovers = new Set<Takeover>();
  /** The last attempt for each detached hold that somebody here wants. */
  private readonly attempts = new Map<string, Promise<void>>();

  constructor(
    private readonly context: LeaseContext,
    private readonly unqueued: UnqueuedLeases,
  ) {}

  /** Attempts under way. */
  get size(): number {
    return this.attempts.size;
  }

  /** A hold was taken away by force, which may be told before the answer by which it came. */
  revoke(owner: string): void {
    for (const takeover of this.takeovers) if (takeover.change.to === owner) takeover.isRevoked = true;
  }

  /** Rejects all who have no answer yet. */
  rejectAll(error: (name: string) => unknown): void {
    for (const takeover of [...this.takeovers]) takeover.reject(error(takeover.change.name));
  }

  /** Takes a detached hold over, or finds that it is over, or somebody else's by now. */
  take(detached: DetachedHold, secret: string, options: ResolvedLockOptions): Promise<Hold> {
    const { name, token, minHold, mode } = detached;
    const { instance } = parsePlace(this.context.store.place(0, 1));
    const ttl = Math.max(options.ttl, Math.ceil(minHold));
    const from = ownerOfDetached(secret, detached);
    // Of its own for each attempt: what a late request of one does must not look like the doing of another.
    const to = formatOwner({ instance, tag: tagOf(mode, randomBytes(TAG_BYTES)), token });
    return new Promise((resolve, reject) => {
      const takeover = new Takeover(this.context, { name, from, to, ttl }, options, {
        begin: (lease) => resolve(this.begin(lease, { ...options, ttl, minHold })),
        reject,
      });
      this.takeovers.add(takeover);
      void this.oneByOne(from, async () => {
        await takeover.run(token);
        this.takeovers.delete(takeover);
      });
    });
  }

  /** Of two that want one hold here, the second asks when nothing of the first is under way any more. */
  private async oneByOne(from: string, work: () => Promise<void>): Promise<void> {
    const attempt = (this.attempts.get(from) ?? Promise.resolve()).then(work);
    this.attempts.set(from, attempt);
    await attempt;
    if (this.attempts.get(from) === attempt) this.attempts.delete(from);
  }

  private begin(lease: Lease, options: ResolvedLockOptions): Hold {
    const { clock, keeper } = this.context;
    const hold = this.unqueued.keep(lease).hold(lease, lease.use(options), options, clock.now());
    keeper.add(lease);
    return hold;
  }
}
