import { randomBytes } from 'node:crypto';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { AnswerWakeUp } from '../../primitives/wake-up.js';
import type { OwnerChange, Transferred } from '../../store/lock-store.js';
import { taggedOwner } from '../../store/owner-id.js';
import { parsePlace } from '../../store/place.js';
import { isRefusal } from '../../store/store-errors.js';
import { detachedGoneError, forcedError, unavailableError, undecidedError } from '../lock-errors.js';
import { Caller } from './caller.js';
import { Hold } from './hold.js';
import { Lease } from './lease.js';
import type { Leases } from './leases.js';
import { type DetachedHold, ownerOfDetached, tagOf, type Transfer } from './transfer-string.js';

const TAG_BYTES = 8;
const RETRY_DELAY = 50;
/**
 * Milliseconds for which a caller at least waits until its failed attempt is undone, so that its string is valid when it
 * learns of the failure. A silent connection is replaced within that time.
 */
const MIN_UNDO_TIME = 2_000;

/** A hold that an attempt attaches, with the change of its owner. */
interface Part {
  readonly detached: DetachedHold;
  readonly change: OwnerChange;
}

/** Attaches holds that other instances have detached. */
export class Attachments {
  private readonly takeovers = new Set<Takeover>();
  /** The last attempt for the string with each secret. */
  private readonly attempts = new Map<string, Promise<void>>();

  constructor(private readonly leases: Leases) {}

  /** Number of strings with attempts in progress. */
  get size(): number {
    return this.attempts.size;
  }

  /** Whether a caller has not received its reply yet. */
  get hasCallers(): boolean {
    return [...this.takeovers].some(({ isWaiting }) => isWaiting);
  }

  /** Handles a forced release, whose message may arrive before the reply of the attach. */
  revoke(name: string, owner: string): void {
    for (const takeover of this.takeovers) takeover.revoke(name, owner);
  }

  /** Records that the connection was lost and unanswered requests were repeated. */
  noteResent(): void {
    for (const takeover of this.takeovers) takeover.isInDoubt = true;
  }

  /** Rejects all attempts without a reply. */
  rejectAll(error: (names: readonly string[]) => unknown): void {
    for (const takeover of [...this.takeovers]) takeover.reject(error(takeover.keys));
  }

  /** Takes over all holds of a string; rejects if one has ended, or another caller has taken them. */
  take({ holds, secret }: Transfer, options: ResolvedLockOptions): Promise<readonly Hold[]> {
    const { instance } = parsePlace(this.leases.store.place(0, 1));
    // Different for each attempt: a late request of one attempt must not look like another attempt.
    const random = randomBytes(TAG_BYTES);
    const parts = holds.map((detached): Part => {
      const { minHold, mode, name, permits, token } = detached;
      const ttl = Math.max(options.ttl, Math.ceil(minHold));
      const from = ownerOfDetached(secret, detached);
      const to = taggedOwner(instance, tagOf(mode, random, permits), token);
      return { detached, change: { name, from, to, ttl } };
    });
    return new Promise((resolve, reject) => {
      const takeover = new Takeover(this.leases, parts, options, resolve, reject);
      this.takeovers.add(takeover);
      void this.oneByOne(secret, async () => {
        await takeover.run();
        this.takeovers.delete(takeover);
      });
    });
  }

  /** Runs the attempts for one string in sequence: the second one starts when the first one has ended. */
  private async oneByOne(secret: string, work: () => Promise<void>): Promise<void> {
    const attempt = (this.attempts.get(secret) ?? Promise.resolve()).then(work);
    this.attempts.set(secret, attempt);
    await attempt;
    if (this.attempts.get(secret) === attempt) this.attempts.delete(secret);
  }
}

/** The end of an attempt that has failed: whether its string is valid, is gone, or will be valid at some time. */
type End = 'valid' | 'gone' | 'undecided';

/**
 * One attempt to take over detached holds. If it succeeds after its caller stopped waiting for it, or its outcome is
 * unknown, it is undone before the caller is rejected.
 */
class Takeover extends Caller<readonly Hold[]> {
  readonly keys: readonly string[];
  /** Whether a request may have had an effect although its reply says nothing about it. */
  isInDoubt = false;
  /** Set when no reply can make the attempt succeed any more: creates the error of its caller. */
  private failed: ((end: End) => unknown) | undefined;
  private isRevoked = false;
  private failure: unknown;
  private readonly changes: readonly OwnerChange[];
  private readonly startedAt: number;
  private readonly timer: AnswerWakeUp;
  private noteEnd: () => void = () => undefined;

  constructor(
    private readonly leases: Leases,
    private readonly parts: readonly Part[],
    private readonly options: ResolvedLockOptions,
    resolve: (holds: readonly Hold[] | Promise<readonly Hold[]>) => void,
    fail: (reason: unknown) => void,
  ) {
    super(resolve, fail);
    this.keys = parts.map(({ detached }) => detached.name);
    this.changes = parts.map(({ change }) => change);
    const { clock } = leases;
    const { outageTimeout, signal } = options;
    this.timer = new AnswerWakeUp(clock, () =>
      this.failed ? this.reject(this.failed('undecided')) : this.stop(this.unavailable),
    );
    this.startedAt = clock.now();
    this.timer.at(this.startedAt + outageTimeout);
    if (signal) this.follow(signal, (reason) => this.stop(() => reason));
  }

  /** Runs the attempt; settles when the attempt has ended and has no request in flight. */
  async run(): Promise<void> {
    const { clock } = this.leases;
    const sentAt = clock.now();
    const outcome = await this.ask();
    if (outcome === 'gone') this.free(({ from, to }) => [from, to]);
    if (outcome === 'gone' || outcome === 'taken') return this.reject(detachedGoneError(this.keys));
    // Without a reply, this instance may still own the holds.
    if (outcome === undefined && !this.isInDoubt)
      return this.reject(this.failed?.('valid') ?? this.unavailable('valid'));
    if (outcome === undefined || !(await this.isKnown())) return this.undo();
    if (this.isRevoked) {
      this.free(({ to }) => [to]);
      return this.reject(forcedError(this.keys));
    }
    const leases = this.parts.map(({ change: { name, to: owner, ttl }, detached: { minHold, token } }) => {
      return { lease: new Lease(name, { owner, token, tokens: 1 }, ttl, sentAt), minHold };
    });
    const isLate = leases.some(({ lease }) => lease.deadline <= clock.now());
    if (!this.isTaking || isLate) return this.undo();
    this.resolve(leases.map(({ lease, minHold }) => this.begin(lease, minHold)));
  }

  /** Handles a forced release. */
  revoke(name: string, owner: string): void {
    this.isRevoked ||= this.changes.some((change) => change.name === name && change.to === owner);
  }

  protected override endWait(): boolean {
    this.timer.clear();
    this.noteEnd();
    return super.endWait();
  }

  /** Whether a reply still makes the attempt succeed. */
  private get isTaking(): boolean {
    return this.isWaiting && this.failed === undefined;
  }

  /** Ends the attempt without success. Its caller is rejected when it has been undone, or when that takes too long. */
  private stop(failed: (end: End) => unknown): void {
    if (this.failed) return;
    this.failed = failed;
    this.timer.clear();
    const time = Math.max(this.options.outageTimeout, MIN_UNDO_TIME);
    if (this.isWaiting) this.timer.at(this.leases.clock.now() + time);
  }

  private readonly unavailable = (end: End): unknown => {
    const { clock, store } = this.leases;
    if (end === 'gone') return detachedGoneError(this.keys);
    const call = { waited: clock.now() - this.startedAt, label: this.options.label };
    const errorOf = end === 'valid' ? unavailableError : undecidedError;
    return errorOf(this.keys, this.failure ?? store.trouble, call);
  };

  /** Asks until there is a reply, the caller does not wait for it any more, or the store refuses. */
  private async ask(): Promise<Transferred | undefined> {
    const { clock, store } = this.leases;
    while (this.isTaking) {
      try {
        return await store.transfer?.(this.changes);
      } catch (error) {
        this.failure = error;
        if (isRefusal(error)) return undefined;
        this.isInDoubt = true;
        await new Promise<void>((resolve) => void clock.schedule(resolve, RETRY_DELAY));
      }
    }
    return undefined;
  }

  /** Whether enough replicas have confirmed the new owners. */
  private async isKnown(): Promise<boolean> {
    const { replicas } = this.options;
    if (!replicas || replicas.min === 0) return true;
    const leases = this.changes.map(({ name, to: owner, ttl }) => ({
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
   * Undoes the attempt, so that the string is valid again, here and elsewhere. Settles when the caller has been rejected,
   * so that no attempt in this process begins before.
   */
  private async undo(): Promise<void> {
    this.stop(this.unavailable);
    const { requests, store } = this.leases;
    const back = this.parts.map(({ change: { from, name, to }, detached: { ttl } }) => {
      return { name, from: to, to: from, ttl };
    });
    const ttl = Math.max(...this.changes.map((change) => change.ttl));
    const what = (): string => `Taking the hold of ${this.keys.join(', ')} back`;
    const send = async (): Promise<void> => {
      try {
        const outcome = await store.transfer?.(back, 'last');
        // Other parts that this instance owns are of no use to a later attempt.
        if (outcome !== 'moved') this.free(({ to }) => [to]);
        this.reject(this.failed?.(outcome === 'moved' ? 'valid' : 'gone'));
      } catch (error) {
        if (isRefusal(error)) this.reject(this.failed?.('undecided'));
        throw error;
      }
    };
    await requests.run({ what, ttl, send });
    if (this.isWaiting) await new Promise<void>((resolve) => (this.noteEnd = resolve));
  }

  /** Releases what may be left of holds that cannot be attached any more. */
  private free(owners: (change: OwnerChange) => readonly string[]): void {
    if (this.changes.length === 1) return;
    for (const { change, detached } of this.parts)
      for (const owner of owners(change))
        void this.leases.requests.free(change.name, owner, Math.max(change.ttl, detached.ttl));
  }
}
