import {
  detachedError,
  expiry,
  type Loss,
  lostHoldError,
  NOT_RELEASED,
  OUTLASTED,
  releasedError,
} from '../lock-errors.js';
import { type ObservedHold, publishHoldEnd } from '../../diagnostics/hold.channel.js';
import type { LockAcquire, LockGrantedHow } from '../../diagnostics/lock-events.interface.js';
import { LockConfigError, LockKeyError } from '../../errors/lock.error.js';
import type { LockLostError, LockLostReason } from '../../errors/lock-lost.error.js';
import { detachAll } from './combined-lock.js';
import { ownerOfDetached } from './detached-lock.js';
import type { Detachment, ReusableLock, Reentry } from './reentry.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Duration } from '../../options/duration.js';
import { resolveTtl } from '../../options/lock-options.js';
import { instanceOf, isSharedOwner, permitsOf } from '../../store/owner-id.js';
import { inRootContext } from '../../primitives/root-context.js';
import type { Lease, LeaseUser } from './lease.js';
import type { Leases } from './leases.js';
import type { OwnHold } from './lock.interface.js';
import { BaseLock } from './base-lock.js';

const DONE = Promise.resolve();

/**
 * The states of a hold:
 * - detaching: a transfer is in flight, and after a failure the hold can be used again.
 * - releasing: it waits for the end of a transfer or of nested calls.
 * - detached, released: it has ended.
 *
 * A hold can be lost in each of them but the last two. Its release follows all the same.
 */
type State = 'held' | 'detaching' | 'releasing' | 'detached' | 'released';

/** A caller's hold of a name. */
export class Hold extends BaseLock implements ReusableLock, ObservedHold, LeaseUser {
  reentry: Reentry | undefined;
  acquire: LockAcquire | undefined;
  private controller: AbortController | undefined;
  private lost: LockLostError | undefined;
  private state: State = 'held';
  /** Settles with the transfer or the release that has begun last. */
  private ending = DONE;

  constructor(
    readonly keys: readonly string[],
    readonly fencingToken: number,
    private readonly leases: Leases,
    readonly lease: Lease,
    /** Its caller's options; {@link begin} replaces those of a provisional hold. */
    private options: ResolvedLockOptions,
    /** The time of the grant to its caller. */
    private startedAt: number,
  ) {
    super();
  }

  /** Begins a hold that was provisional until now, with its caller's options. */
  begin(options: ResolvedLockOptions): void {
    this.options = options;
    this.startedAt = this.leases.clock.now();
    this.lease.renew = options.renew;
    this.leases.begin(this.lease, options);
  }

  get owner(): string {
    return this.lease.owner;
  }

  get permits(): number {
    return permitsOf(this.lease.owner);
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.lost) this.controller.abort(this.lost);
    }
    return this.controller.signal;
  }

  /**
   * When the hold ends regardless of its lease: `maxHold` after the grant, or when it no longer waits for nested calls.
   */
  get endsAt(): number {
    return Math.min(this.startedAt + this.options.maxHold, this.reentry?.waitsUntil ?? Infinity);
  }

  get keptUntil(): number {
    const { minHold } = this.options;
    return minHold > 0 ? this.startedAt + minHold : 0;
  }

  get leaseEnd(): number {
    return this.lease.deadline;
  }

  get isGone(): boolean {
    return this.lost?.reason === 'gone' || this.lost?.reason === 'forced';
  }

  get how(): LockGrantedHow {
    return this.lease.how;
  }

  get mode(): 'exclusive' | 'shared' {
    return isSharedOwner(this.lease.owner) ? 'shared' : 'exclusive';
  }

  get remaining(): number {
    return this.state === 'held' ? this.certainFor : 0;
  }

  get certainFor(): number {
    if (this.hasEnded || this.lost) return 0;
    return Math.max(0, Math.min(this.leaseEnd, this.endsAt) - this.leases.clock.now());
  }

  private get hasEnded(): boolean {
    return this.state === 'detached' || this.state === 'released';
  }

  describe(now: number): Omit<OwnHold, 'waiting'> {
    const { fencingToken, keys, mode, permits, certainFor: remaining } = this;
    const { label, origin } = this.options;
    const age = now - this.startedAt;
    const since = new Date(Date.now() - age);
    const several = permits > 1 ? { permits } : {};
    return { name: keys[0] ?? '', mode, ...several, label, ...origin, since, age, remaining, fencingToken };
  }

  fencingTokenOf(key: string): number {
    if (this.keys.includes(key)) return this.fencingToken;
    throw new LockKeyError(`This hold is of ${this.keys.join(', ')}, not of ${key}.`, { keys: [key] });
  }

  assertHeld(): void {
    this.assertNotLost();
    if (this.state === 'detaching' || this.state === 'detached') throw detachedError(this.keys);
    if (this.state !== 'held') throw releasedError(this.keys);
  }

  assertNotLost(): void {
    if (this.hasEnded && !this.lost) return;
    if (this.certainFor > 0) return;
    throw this.lost ?? this.errorOf(expiry(this.options));
  }

  async extend(ttl?: Duration): Promise<void> {
    const lease = resolveTtl(ttl) ?? this.options.ttl;
    this.assertHeld();
    if (!(await this.leases.extend(this, lease))) this.assertHeld();
  }

  detach(ttl?: Duration): Promise<string> {
    return detachAll([this], ttl);
  }

  assertCanDetach(): void {
    if (!this.leases.store.transfer)
      throw new LockConfigError('Locks on a quorum stay with their process: they cannot be detached.', {
        keys: this.keys,
      });
    this.assertHeld();
    if (this.reentry?.isBusy)
      throw new LockConfigError(
        'A nested call is still inside the hold: detach the hold after that call has ended.',
        {
          keys: this.keys,
        },
      );
  }

  async detachFor(secret: string, ttl = this.lease.ttl): Promise<Detachment> {
    const { lease, leases, mode, permits } = this;
    const minHold = Math.max(0, Math.ceil(this.keptUntil - leases.clock.now()));
    const { name, owner: holder } = lease;
    const instance = instanceOf(holder);
    const longerTtl = Math.ceil(Math.max(ttl, minHold));
    const token = this.fencingToken;
    const detached = { name, instance, token, minHold, mode, permits, ttl: longerTtl };
    const owner = ownerOfDetached(secret, detached);
    // No call is inside, so the re-entry closes at once.
    void this.reentry?.close();
    const transfer = leases.transfer(lease, owner, longerTtl, this.options.outageTimeout).then((isDone) => {
      if (!isDone) this.assertNotLost();
    });
    this.state = 'detaching';
    this.ending = transfer;
    try {
      await transfer;
    } catch (error) {
      if (this.state === 'detaching') {
        this.state = 'held';
        this.reentry?.reopen();
      }
      throw error;
    }
    if (this.acquire) this.tellEnd(undefined);
    this.state = 'detached';
    this.reentry?.context.endOfHold();
    return { detached, release: () => leases.requests.release(name, owner, longerTtl) };
  }

  endBy(send: (releases: boolean) => Promise<boolean>): Promise<boolean> {
    const { lease, leases, reentry } = this;
    if (!this.held || reentry?.isBusy || leases.clock.now() < this.keptUntil) return send(false);
    // No call is inside, so the re-entry closes at once.
    void reentry?.close();
    this.noteEnd();
    const ending = leases.endBy(lease, () => send(true));
    this.ending = ending.then(
      () => undefined,
      () => undefined,
    );
    return ending;
  }

  loseAndRelease(loss: Loss, keys: readonly string[]): Promise<void> {
    this.lose(loss, keys);
    return this.release();
  }

  release(): Promise<void> {
    const { state } = this;
    if (state === 'held' || state === 'detaching') {
      this.state = 'releasing';
      // After a transfer, there is nothing to release.
      this.ending = state === 'held' ? this.releaseNow() : this.ending.catch(() => this.releaseNow());
    }
    return this.reentry?.isOwnWait ? DONE : this.ending;
  }

  /** Marks the hold as lost: it ended before its release. */
  lose(loss: Loss, keys = this.keys): void {
    if (this.hasEnded || this.lost) return;
    const lost = this.errorOf(loss, keys);
    this.lost = lost;
    inRootContext(() => {
      this.controller?.abort(lost);
      if (this.acquire) this.tellEnd(loss.reason);
    });
  }

  runOut(): void {
    const isMaxHold = this.leases.clock.now() >= this.startedAt + this.options.maxHold;
    // Comes first: a listener of the signal may release at once. The lease then belongs to the next hold, or to nobody.
    this.leases.letExpire(this);
    this.lose(isMaxHold ? OUTLASTED : NOT_RELEASED);
  }

  private errorOf(loss: Loss, keys = this.keys): LockLostError {
    return lostHoldError(keys, loss, this.leases.clock.now() - this.startedAt, this.options.label);
  }

  private releaseNow(): Promise<void> {
    const left = this.reentry?.close();
    return left ? left.then(() => this.end()) : this.end();
  }

  private end(): Promise<void> {
    this.noteEnd();
    return this.leases.release(this);
  }

  private noteEnd(): void {
    // The end of the lease may not have been noticed yet.
    if (this.acquire && !this.lost) this.tellEnd(this.certainFor > 0 ? undefined : 'expired');
    this.state = 'released';
    this.reentry?.context.endOfHold();
  }

  private tellEnd(reason: LockLostReason | undefined): void {
    publishHoldEnd(this, this.leases.clock.now() - this.startedAt, reason);
  }
}
