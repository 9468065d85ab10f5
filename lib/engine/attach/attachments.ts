import { randomBytes } from 'node:crypto';
import { type DetachedHold, tagOf, ownerOfDetached } from '../hold/transfer-string.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { formatOwner } from '../../store/owner-id.js';
import { parsePlace } from '../../store/place.js';
import { Hold } from '../hold/hold.js';
import type { Lease } from '../hold/lease.js';
import type { Leases } from '../hold/leases.js';
import { Takeover } from './takeover.js';

const TAG_BYTES = 8;

/** Attaches holds that other instances have detached. */
export class Attachments {
  private readonly takeovers = new Set<Takeover>();
  /** The last attempt for each requested hold. */
  private readonly attempts = new Map<string, Promise<void>>();

  constructor(private readonly leases: Leases) {}

  /** Number of attempts in progress. */
  get size(): number {
    return this.attempts.size;
  }

  /** Handles a forced release, whose message may arrive before the reply of the attach. */
  revoke(owner: string): void {
    for (const takeover of this.takeovers) if (takeover.change.to === owner) takeover.isRevoked = true;
  }

  /** Rejects all attempts without a reply. */
  rejectAll(error: (name: string) => unknown): void {
    for (const takeover of [...this.takeovers]) takeover.reject(error(takeover.change.name));
  }

  /** Takes over a detached hold; rejects if the hold has ended or was taken by another caller. */
  take(detached: DetachedHold, secret: string, options: ResolvedLockOptions): Promise<Hold> {
    const { name, token, minHold, mode } = detached;
    const { instance } = parsePlace(this.leases.store.place(0, 1));
    const ttl = Math.max(options.ttl, Math.ceil(minHold));
    const from = ownerOfDetached(secret, detached);
    // Different for each attempt: a late request of one attempt must not look like another attempt.
    const to = formatOwner({ instance, tag: tagOf(mode, randomBytes(TAG_BYTES)), token });
    return new Promise((resolve, reject) => {
      const begin = (lease: Lease): void => resolve(this.begin(lease, { ...options, ttl, minHold }));
      const takeover = new Takeover(this.leases, { name, from, to, ttl }, options, begin, reject);
      this.takeovers.add(takeover);
      void this.oneByOne(from, async () => {
        await takeover.run(token);
        this.takeovers.delete(takeover);
      });
    });
  }

  /** Runs the attempts for one hold in sequence: the second one starts when the first one has no request in flight. */
  private async oneByOne(from: string, work: () => Promise<void>): Promise<void> {
    const attempt = (this.attempts.get(from) ?? Promise.resolve()).then(work);
    this.attempts.set(from, attempt);
    await attempt;
    if (this.attempts.get(from) === attempt) this.attempts.delete(from);
  }

  private begin(lease: Lease, options: ResolvedLockOptions): Hold {
    const { leases } = this;
    const token = lease.use(options);
    const hold = new Hold([lease.name], token, leases, lease, options, leases.clock.now());
    lease.holds = [hold];
    leases.adopt(lease);
    return hold;
  }
}
