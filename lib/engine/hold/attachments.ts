import { randomBytes } from 'node:crypto';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { AnswerWakeUp } from '../../primitives/wake-up.js';
import type { OwnerChange } from '../../store/lock-store.js';
import { taggedOwner } from '../../store/owner-id.js';
import { parsePlace } from '../../store/place.js';
import { isRefusal } from '../../store/store-errors.js';
import { detachedGoneError, forcedError, unavailableError } from '../lock-errors.js';
import { Caller } from './caller.js';
import { attachAll } from './combined-lock.js';
import { Hold } from './hold.js';
import { Lease } from './lease.js';
import type { Leases } from './leases.js';
import { type DetachedHold, ownersOfDetached, tagOf } from './transfer-string.js';

const TAG_BYTES = 8;
const RETRY_DELAY = 50;

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

  /** Whether a caller has not received its reply yet. */
  get hasCallers(): boolean {
    return [...this.takeovers].some(({ isWaiting }) => isWaiting);
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
  async take(detached: DetachedHold, secret: string, options: ResolvedLockOptions): Promise<Hold> {
    const { mode, permits, token } = detached;
    // Different for each attempt: a late request of one attempt must not look like another attempt.
    const tag = tagOf(mode, randomBytes(TAG_BYTES), permits);
    if (permits === 1) return this.takePermit(detached, tag, token, secret, options);
    const holds = Array.from({ length: permits }, (_, i) => ({ ...detached, token: token + i, permits: 1 }));
    const attempts = holds.map((each, i) => this.takePermit(each, tag, i + 1, secret, options));
    const [first, ...others] = (await attachAll(attempts, { secret, holds })) as [Hold, ...Hold[]];
    first.join(others);
    return first;
  }

  private takePermit(
    detached: DetachedHold,
    tag: string,
    number: number,
    secret: string,
    options: ResolvedLockOptions,
  ): Promise<Hold> {
    const { name, token, minHold } = detached;
    const { instance } = parsePlace(this.leases.store.place(0, 1));
    const ttl = Math.max(options.ttl, Math.ceil(minHold));
    const [from = ''] = ownersOfDetached(secret, detached);
    const to = taggedOwner(instance, tag, number);
    return new Promise((resolve, reject) => {
      const begin = (lease: Lease): Hold => this.begin(lease, { ...options, ttl, minHold });
      const takeover = new Takeover(this.leases, { name, from, to, ttl }, options, begin, resolve, reject);
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

/** One attempt to take over a detached hold. If it succeeds after its caller was rejected, it is undone. */
class Takeover extends Caller<Hold> {
  /** Whether the hold was released forcibly, as soon as known. */
  isRevoked = false;
  private failure: unknown;
  private readonly startedAt: number;
  private readonly timer: AnswerWakeUp;

  constructor(
    private readonly leases: Leases,
    readonly change: OwnerChange,
    private readonly options: ResolvedLockOptions,
    private readonly begin: (lease: Lease) => Hold,
    resolve: (hold: Hold | Promise<Hold>) => void,
    fail: (reason: unknown) => void,
  ) {
    super(resolve, fail);
    const { clock } = leases;
    const { outageTimeout, signal } = options;
    this.timer = new AnswerWakeUp(clock, () => this.rejectUnavailable());
    this.startedAt = clock.now();
    this.timer.at(this.startedAt + outageTimeout);
    if (signal) this.follow(signal, (reason) => this.reject(reason));
  }

  /** Runs the attempt; settles when it has no request in flight. */
  async run(token: number): Promise<void> {
    const { change } = this;
    const { clock } = this.leases;
    const sentAt = clock.now();
    const taken = await this.ask();
    if (taken === false) return this.reject(detachedGoneError([change.name]));
    // Without a reply, this instance may still own the hold.
    if (taken !== true || !(await this.isKnown())) return this.giveBack();
    const lease = new Lease(change.name, { owner: change.to, token, tokens: 1 }, change.ttl, sentAt);
    if (this.isRevoked) return this.reject(forcedError([change.name]));
    if (!this.isWaiting || lease.deadline <= clock.now()) return this.giveBack();
    this.resolve(this.begin(lease));
  }

  private rejectUnavailable(): void {
    const { clock, store } = this.leases;
    const call = { waited: clock.now() - this.startedAt, label: this.options.label };
    this.reject(unavailableError([this.change.name], this.failure ?? store.trouble, call));
  }

  protected override endWait(): boolean {
    this.timer.clear();
    return super.endWait();
  }

  /** Asks until there is a reply, the caller no longer waits, or the store refuses. */
  private async ask(): Promise<boolean | undefined> {
    const { clock, store } = this.leases;
    while (this.isWaiting) {
      try {
        return await store.transfer?.(this.change);
      } catch (error) {
        this.failure = error;
        if (isRefusal(error)) return undefined;
        await new Promise<void>((resolve) => void clock.schedule(resolve, RETRY_DELAY));
      }
    }
    return undefined;
  }

  /** Whether enough replicas have confirmed the new owner. */
  private async isKnown(): Promise<boolean> {
    const { replicas } = this.options;
    if (!replicas || replicas.min === 0) return true;
    const { name, to: owner, ttl } = this.change;
    const lease = { name, owner, ttl, exact: false, replicas };
    try {
      const [isKnown] = await this.leases.store.extend([lease]);
      if (isKnown) return true;
      this.failure = new Error('Too few replicas of Redis confirmed the new holder (option replicas).');
    } catch (error) {
      this.failure = error;
    }
    return false;
  }

  /** Undoes the attempt: the string is valid again, here and elsewhere. */
  private async giveBack(): Promise<void> {
    const { name, from, to, ttl } = this.change;
    this.rejectUnavailable();
    const { store } = this.leases;
    await this.leases.cleanUps.takeBack(name, ttl, async () =>
      store.transfer?.({ name, from: to, to: from, ttl }),
    );
  }
}
