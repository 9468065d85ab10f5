import { randomBytes } from 'node:crypto';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { Abandonment } from '../../primitives/abandonment.js';
import { answerWithin } from '../../primitives/answer-within.js';
import type { OwnerChange, Transferred } from '../../store/lock-store.js';
import { taggedOwner } from '../../store/owner-id.js';
import { detachedGoneError, FORCED, lostError, unavailableError, undecidedError } from '../lock-errors.js';
import { Hold } from './hold.js';
import { Lease } from './lease.js';
import type { Leases } from './leases.js';
import { Request } from './request-machine.js';
import { type DetachedHold, ownerOfDetached, tagOf, type DetachedLock } from './detached-lock.js';

const TAG_BYTES = 8;
/**
 * Milliseconds for which a caller at least waits until its holds are returned, so that its string is valid when it
 * learns of the failure. A silent connection is replaced within that time.
 */
const MIN_RETURN_TIME = 2_000;

/** The change of owner that attaches a detached hold. */
interface Part extends OwnerChange {
  readonly detached: DetachedHold;
}

/** Attaches holds that other instances have detached. */
export class Attachments {
  private readonly attachments = new Set<Attachment>();
  /** The last attempt for the string with each secret. */
  private readonly attempts = new Map<string, Promise<unknown>>();

  constructor(
    private readonly instance: string,
    private readonly leases: Leases,
  ) {}

  /** Number of strings with attempts in progress. */
  get size(): number {
    return this.attempts.size;
  }

  /** Handles a forced release, whose message may arrive before the reply of the attach. */
  revoke(name: string, owner: string): void {
    for (const attachment of this.attachments) attachment.revoke(name, owner);
  }

  /** Rejects all attempts without a reply. */
  rejectAll(error: (names: readonly string[]) => unknown): void {
    for (const attachment of this.attachments) attachment.abort(error(attachment.keys));
  }

  /** Attaches all holds of a string; rejects if one has ended, or another caller has attached them. */
  attach({ holds, secret }: DetachedLock, options: ResolvedLockOptions): Promise<readonly Hold[]> {
    // Different for each attempt: a late request of one attempt must not look like another attempt.
    const random = randomBytes(TAG_BYTES);
    const parts = holds.map((detached): Part => {
      const { minHold, mode, name, permits, token } = detached;
      const ttl = Math.max(options.ttl, Math.ceil(minHold));
      const from = ownerOfDetached(secret, detached);
      const to = taggedOwner(this.instance, tagOf(mode, random, permits), token);
      return { detached, name, from, to, ttl };
    });
    const attachment = new Attachment(this.leases, parts, options);
    void this.oneByOne(secret, attachment);
    return attachment.holds;
  }

  /** Runs the attempts for one string in sequence: the second one starts when the first one has ended. */
  private async oneByOne(secret: string, attachment: Attachment): Promise<void> {
    this.attachments.add(attachment);
    const before = this.attempts.get(secret) ?? Promise.resolve();
    const attempt = Promise.all([before, attachment.run(before)]);
    this.attempts.set(secret, attempt);
    await attempt;
    this.attachments.delete(attachment);
    if (this.attempts.get(secret) === attempt) this.attempts.delete(secret);
  }
}

/** The end of an attempt that has failed: whether its string is valid, is gone, or will be valid at some time. */
type End = 'valid' | 'gone' | 'undecided';

/** The reply to an attempt; `unconfirmed` means transferred, but not known to enough replicas. */
type Outcome = Transferred | 'unconfirmed' | undefined;

/**
 * One attempt to attach detached holds. If it succeeds after its caller stopped waiting for it, or its outcome is
 * unknown, it returns the holds before the caller is rejected.
 */
class Attachment {
  readonly keys: readonly string[];
  readonly holds: Promise<readonly Hold[]>;
  private isRevoked = false;
  private failure: unknown;
  private sentAt: number | undefined;
  private readonly startedAt: number;
  private readonly left: Abandonment;
  private fulfill: (holds: readonly Hold[]) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;

  constructor(
    private readonly leases: Leases,
    private readonly parts: readonly Part[],
    private readonly options: ResolvedLockOptions,
  ) {
    this.keys = parts.map(({ name }) => name);
    this.startedAt = leases.clock.now();
    this.left = new Abandonment(...(options.signal ? [options.signal] : []));
    this.holds = new Promise((fulfill, reject) => {
      this.fulfill = fulfill;
      this.reject = reject;
    });
  }

  /** Runs the attempt after an earlier one. Settles when it has ended, and has no request in flight. */
  run(before: Promise<unknown>): Promise<void> {
    const { requests } = this.leases;
    return new Promise((resolve) => {
      const request = new Request<Outcome>({
        send: () => this.transfer(),
        abandoned: () => this.boundReturn(),
        ended: (ended, outcome) => void this.conclude(ended, outcome).then(resolve),
      });
      requests.watch(request, this.startedAt + this.options.outageTimeout, this.left.signal);
      void before.then(() => requests.start(request));
    });
  }

  revoke(name: string, owner: string): void {
    this.isRevoked ||= this.parts.some((part) => part.name === name && part.to === owner);
  }

  abort(error: unknown): void {
    this.reject(error);
    this.left.abort();
  }

  private async transfer(): Promise<Outcome> {
    const { clock, store } = this.leases;
    this.sentAt ??= clock.now();
    const outcome = await store.transfer?.(this.parts);
    return outcome === 'transferred' && !(await this.isKnown()) ? 'unconfirmed' : outcome;
  }

  private async conclude({ failure, isInDoubt, isLate }: Request<Outcome>, outcome: Outcome): Promise<void> {
    const { clock } = this.leases;
    this.failure ??= failure;
    if (outcome === 'gone') this.releaseRest(({ from, to }) => [from, to]);
    if (outcome === 'gone' || outcome === 'taken') return this.reject(detachedGoneError(this.keys));
    // An earlier attempt for the string may still be in progress. Without a reply, this instance may own the holds.
    if (outcome === undefined && !isInDoubt)
      return this.reject(this.errorOf(this.sentAt === undefined ? 'undecided' : 'valid'));
    if (outcome !== 'transferred') return this.returnHolds();
    if (this.isRevoked) {
      this.releaseRest(({ to }) => [to]);
      return this.reject(lostError(this.keys, FORCED));
    }
    const leases = this.parts.map(({ detached: { minHold, token }, name, to: owner, ttl }) => {
      return { lease: new Lease(name, { owner, token, tokens: 1 }, ttl, this.sentAt ?? -Infinity), minHold };
    });
    if (isLate || leases.some(({ lease }) => lease.deadline <= clock.now())) return this.returnHolds();
    this.fulfill(leases.map(({ lease, minHold }) => this.begin(lease, minHold)));
  }

  private errorOf(end: End): unknown {
    const { clock, store } = this.leases;
    if (this.left.aborted) return this.left.reason;
    if (end === 'gone') return detachedGoneError(this.keys);
    const call = { waited: clock.now() - this.startedAt, label: this.options.label };
    const errorOf = end === 'valid' ? unavailableError : undecidedError;
    return errorOf(this.keys, this.failure ?? store.trouble, call);
  }

  /** Whether enough replicas have confirmed the new owners. */
  private async isKnown(): Promise<boolean> {
    const { replicas } = this.options;
    if (!replicas) return true;
    const leases = this.parts.map(({ name, to: owner, ttl }) => ({
      name,
      owner,
      ttl,
      exact: false,
      replicas,
    }));
    try {
      if ((await this.leases.store.extend(leases)).every(Boolean)) return true;
      this.failure = new Error('Too few replicas of Redis confirmed the new holder (option replicas).');
    } catch (error) {
      this.failure = error;
    }
    return false;
  }

  private begin(lease: Lease, minHold: number): Hold {
    const { leases } = this;
    const options = { ...this.options, ttl: lease.ttl, minHold };
    const token = lease.use(options);
    const hold = new Hold([lease.name], token, leases, lease, options, leases.clock.now());
    lease.hold = hold;
    leases.adopt(lease);
    return hold;
  }

  /**
   * Returns the holds, so that the string is valid again, here and elsewhere. Settles when the caller has been rejected,
   * so that no attempt in this process begins before.
   */
  private async returnHolds(): Promise<void> {
    this.boundReturn();
    const { requests, store } = this.leases;
    const back = this.parts.map(({ detached: { ttl }, from, name, to }) => {
      return { name, from: to, to: from, ttl };
    });
    void requests.run<Transferred | undefined>({
      what: () => `The return of the hold of ${this.keys.join(', ')}`,
      ttl: Math.max(...this.parts.map(({ ttl }) => ttl)),
      send: async () => store.transfer?.(back, 'last'),
      ended: (_, outcome) => {
        // Other names that this instance owns are of no use to a later attempt.
        if (outcome === 'taken' || outcome === 'gone') this.releaseRest(({ to }) => [to]);
        this.reject(this.errorOf(outcome === 'transferred' ? 'valid' : outcome ? 'gone' : 'undecided'));
      },
    });
    await this.holds.catch(() => undefined);
  }

  /** Rejects the caller if its holds are not returned in time. */
  private boundReturn(): void {
    const time = Math.max(this.options.outageTimeout, MIN_RETURN_TIME);
    answerWithin(this.leases.clock, this.holds, time).catch(() => this.reject(this.errorOf('undecided')));
  }

  /** Releases what may be left of holds that cannot be attached any more. */
  private releaseRest(owners: (change: OwnerChange) => readonly string[]): void {
    if (this.parts.length === 1) return;
    for (const part of this.parts)
      for (const owner of owners(part))
        void this.leases.requests.release(part.name, owner, Math.max(part.ttl, part.detached.ttl));
  }
}
