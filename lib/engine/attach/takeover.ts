import { LockLostError, type LockLostReason } from '../../errors/lock-lost.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { type OwnerChange } from '../../store/lock-store.js';
import { isRefusal } from '../../store/store-errors.js';
import { Lease } from '../hold/lease.js';
import { onAbort } from '../../primitives/abandonment.js';
import { AnswerWakeUp } from '../../primitives/wake-up.js';
import type { Leases } from '../hold/leases.js';
import { unavailableError } from '../lock-errors.js';

const RETRY_DELAY = 50;
const GONE =
  'The detached hold is gone: it was taken over already, its lease ran out, somebody removed it, or it never was.';
const FORCED = 'The lock was taken away by forceRelease.';

/** One attempt to take over a detached hold. If it succeeds after its caller was rejected, it is undone. */
export class Takeover {
  /** Whether the hold was released forcibly, as soon as known. */
  isRevoked = false;
  private isWanted = true;
  private failure: unknown;
  private readonly startedAt: number;
  private readonly timer: AnswerWakeUp;
  private readonly unhook: (() => void) | undefined;

  constructor(
    private readonly leases: Leases,
    readonly change: OwnerChange,
    private readonly options: ResolvedLockOptions,
    private readonly begin: (lease: Lease) => void,
    private readonly fail: (reason: unknown) => void,
  ) {
    const { clock } = leases;
    const { outageTimeout, signal } = options;
    this.timer = new AnswerWakeUp(clock, () => this.rejectUnavailable());
    this.startedAt = clock.now();
    this.timer.at(this.startedAt + outageTimeout);
    if (signal) this.unhook = onAbort(signal, () => this.reject(signal.reason));
  }

  /** Runs the attempt; settles when it has no request in flight. */
  async run(token: number): Promise<void> {
    const { change } = this;
    const { clock } = this.leases;
    const sentAt = clock.now();
    const taken = await this.ask();
    if (taken === false) return this.rejectLost(GONE, 'gone');
    // Without a reply, this instance may still own the hold.
    if (taken !== true || !(await this.isKnown())) return this.giveBack();
    const lease = new Lease(change.name, { owner: change.to, token, tokens: 1 }, change.ttl, sentAt);
    if (this.isRevoked) return this.rejectLost(FORCED, 'forced');
    if (!this.isWanted || lease.deadline <= clock.now()) return this.giveBack();
    this.settle();
    this.begin(lease);
  }

  reject(reason: unknown): void {
    if (!this.isWanted) return;
    this.settle();
    this.fail(reason);
  }

  private rejectUnavailable(): void {
    const { clock, store } = this.leases;
    const call = { waited: clock.now() - this.startedAt, label: this.options.label };
    this.reject(unavailableError([this.change.name], this.failure ?? store.trouble, call));
  }

  private rejectLost(message: string, reason: LockLostReason): void {
    this.reject(new LockLostError(message, { keys: [this.change.name], reason }));
  }

  private settle(): void {
    this.isWanted = false;
    this.timer.clear();
    this.unhook?.();
  }

  /** Asks until there is a reply, the caller no longer waits, or the store refuses. */
  private async ask(): Promise<boolean | undefined> {
    const { clock, store } = this.leases;
    while (this.isWanted) {
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
      this.failure = new Error('Too few replicas of Redis know who holds the lock now (option replicas).');
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
