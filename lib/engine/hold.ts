import { type ObservedHold, tellHoldEnd } from '../diagnostics/hold.probe.js';
import type { LockAcquire, LockGrantedHow } from '../diagnostics/lock-events.interface.js';
import { LockConfigError } from '../errors/lock-config.error.js';
import { LockKeyError } from '../errors/lock-key.error.js';
import { LockLostError, type LockLostReason } from '../errors/lock-lost.error.js';
import { detachAll } from '../handover/detach.js';
import { ownerOfDetached } from '../handover/handover-string.js';
import type { EnterableLock, LeavingHold } from '../interfaces/granted-lock.interface.js';
import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import { assertLockOptionValues } from '../options/lock-options.js';
import type { Reentry } from '../reentrance/reentry.js';
import { instanceOf, isSharedOwner } from '../store/owner-id.js';
import type { Clock } from './clock.js';
import type { Lease } from './lease.js';

const EXPIRED =
  'The lease ran out before it could be renewed: the process or its machine was stopped, or Redis (or enough of the ' +
  'replicas that the option replicas asks for) did not confirm the renewal in time.';

const TAKEN =
  'Redis does not know the hold any more: its lease ran out, its data was lost, or somebody removed the key.';

/** Why a hold is over whose lease was not renewed in time. */
export function expiredError(keys: readonly string[]): LockLostError {
  return new LockLostError(EXPIRED, { keys, reason: 'expired' });
}

/** Why a hold is over that the store does not know. */
export function takenError(keys: readonly string[]): LockLostError {
  return new LockLostError(TAKEN, { keys, reason: 'gone' });
}

/** What a hold asks of the queue that granted it. */
export interface HoldOwner {
  readonly keys: readonly string[];
  readonly clock: Clock;
  /** Whether its store can give a lock to another owner id. */
  readonly canHandOver: boolean;
  release(hold: Hold): Promise<void>;
  extend(hold: Hold, ttl: number): Promise<void>;
  /** Gives the lock to the owner id `to`, and ends the lease here without releasing it. */
  handOver(hold: Hold, to: string, ttl: number): Promise<void>;
  /** Releases the lock of an owner id. Never rejects. */
  free(owner: string): Promise<void>;
}

/** One caller's hold of one name. */
export class Hold implements EnterableLock, ObservedHold {
  readonly keys: readonly string[];
  readonly fencingToken: number;
  reentry: Reentry | undefined;
  acquire: LockAcquire | undefined;
  private controller: AbortController | undefined;
  private lost: LockLostError | undefined;
  private releasing: Promise<void> | undefined;
  /** Settles when it is known whether the hold was handed over. */
  private leaving: Promise<void> | undefined;
  private ended = false;

  constructor(
    private readonly queue: HoldOwner,
    readonly lease: Lease,
    private terms: ResolvedLockOptions,
    private since: number,
  ) {
    this.keys = queue.keys;
    this.fencingToken = lease.takeToken();
  }

  get options(): ResolvedLockOptions {
    return this.terms;
  }

  /** When it was granted to its caller. */
  get startedAt(): number {
    return this.since;
  }

  /** What it is held for, and from when on, where that is not what it was granted for. */
  begin(options: ResolvedLockOptions, now: number): void {
    this.terms = options;
    this.since = now;
    this.lease.renew = options.renew;
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.lost) this.controller.abort(this.lost);
    }
    return this.controller.signal;
  }

  /** When the hold ends whatever its lease: `maxHold` after the grant. */
  get endsAt(): number {
    return this.startedAt + this.options.maxHold;
  }

  get how(): LockGrantedHow {
    return this.lease.how;
  }

  get mode(): 'exclusive' | 'shared' {
    return isSharedOwner(this.lease.owner) ? 'shared' : 'exclusive';
  }

  get held(): boolean {
    return this.remaining > 0;
  }

  get remaining(): number {
    return this.releasing || this.leaving ? 0 : this.certainFor;
  }

  get certainFor(): number {
    if (this.ended || this.lost) return 0;
    return Math.max(0, Math.min(this.lease.deadline, this.endsAt) - this.queue.clock.now());
  }

  fencingTokenOf(key: string): number {
    if (this.keys.includes(key)) return this.fencingToken;
    throw new LockKeyError(`This hold is of ${this.keys.join(', ')}, not of ${key}.`, { keys: [key] });
  }

  assertHeld(): void {
    this.assertNotLost();
    if (this.releasing) throw new LockLostError('The hold has been released.', { keys: this.keys });
    if (this.leaving) throw new LockLostError('The hold has been detached.', { keys: this.keys });
  }

  assertNotLost(): void {
    if (this.ended && !this.lost) return;
    if (this.certainFor > 0) return;
    throw this.lost ?? expiredError(this.keys);
  }

  async extend(ttl = this.options.ttl): Promise<void> {
    assertLockOptionValues({ ttl });
    this.assertHeld();
    await this.queue.extend(this, ttl);
  }

  detach(ttl?: number): Promise<string> {
    return detachAll([this], ttl);
  }

  assertCanLeave(): void {
    if (!this.queue.canHandOver)
      throw new LockConfigError('Locks on a quorum stay with their process: they cannot be detached.', {
        keys: this.keys,
      });
    this.assertHeld();
    if (this.reentry?.isBusy)
      throw new LockConfigError('A call below the hold is still inside: detach it when that has ended.', {
        keys: this.keys,
      });
  }

  async handOver(
    secret: string,
    ttl = this.lease.ttl,
    instance = instanceOf(this.lease.owner),
  ): Promise<LeavingHold> {
    const { lease, queue } = this;
    const minHold = Math.max(0, Math.ceil(this.startedAt + this.options.minHold - queue.clock.now()));
    const { mode } = this;
    const handed = { name: lease.name, instance, token: this.fencingToken, minHold, mode };
    const owner = ownerOfDetached(secret, handed);
    // Nobody is inside, so it is closed by the time that this returns.
    void this.reentry?.close();
    const leaving = queue.handOver(this, owner, Math.max(ttl, minHold));
    this.leaving = leaving;
    try {
      await leaving;
    } catch (error) {
      this.leaving = undefined;
      if (!this.releasing) this.reentry?.reopen();
      throw error;
    }
    if (this.acquire) this.tellEnd(undefined);
    this.ended = true;
    return { handed, free: () => queue.free(owner) };
  }

  giveUp(error: LockLostError): Promise<void> {
    this.lose(error);
    return this.release();
  }

  release(): Promise<void> {
    return (this.releasing ??= this.leaving ? this.releaseUnless(this.leaving) : this.releaseNow());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** Tells the caller that the hold is over before it was released. */
  lose(error: LockLostError): void {
    if (this.ended || this.lost) return;
    this.lost = error;
    this.controller?.abort(error);
    if (this.acquire) this.tellEnd(error.reason ?? 'gone');
  }

  private releaseNow(): Promise<void> {
    return this.reentry ? this.reentry.close().then(() => this.end()) : this.end();
  }

  /** What has left is not released. */
  private async releaseUnless(leaving: Promise<void>): Promise<void> {
    const left = await leaving.then(
      () => true,
      () => false,
    );
    if (!left) await this.releaseNow();
  }

  private end(): Promise<void> {
    // The keeper need not have seen the end of the lease yet.
    if (this.acquire && !this.lost) this.tellEnd(this.certainFor > 0 ? undefined : 'expired');
    this.ended = true;
    return this.queue.release(this);
  }

  private tellEnd(reason: LockLostReason | undefined): void {
    tellHoldEnd(this, this.queue.clock.now() - this.startedAt, reason);
  }
}
