import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { ContenderProcess } from '../demo/contender-process.js';
import { keyOf, LOCK_KINDS, type LockKind, nameIn } from '../locks/lock-kind.js';

const LOOK_INTERVAL = 20;
/** What PTTL says of a key that does not expire. */
const WITHOUT_LEASE = -1;

/** Who plays in an event, and with what. */
export interface Cast {
  /** Has one lock of each kind, so that whatever happens to it happens to all of them. */
  readonly holder: ContenderProcess;
  readonly next: ContenderProcess;
  readonly third: ContenderProcess;
  readonly redis: Redis;
  /** Milliseconds. */
  readonly lease: number;
  /** Begins the names of the locks. */
  readonly scene: string;
}

/** The locks of one event: one of each kind, and who may have them. */
export class Stage {
  readonly holder: ContenderProcess;
  readonly next: ContenderProcess;
  readonly third: ContenderProcess;
  readonly lease: number;

  constructor(private readonly cast: Cast) {
    ({ holder: this.holder, next: this.next, third: this.third, lease: this.lease } = cast);
  }

  name(kind: LockKind): string {
    return nameIn(this.cast.scene, kind);
  }

  /** The holder gets all of them. */
  async acquireAll(): Promise<void> {
    const got = await this.tryAcquire(this.holder, LOCK_KINDS);
    if (got.length < LOCK_KINDS.length)
      throw new Error(`Locks that nobody has were refused; granted: ${got.join('; ')}`);
  }

  /** One attempt at each. */
  async tryAcquire(contender: ContenderProcess, kinds: readonly LockKind[]): Promise<LockKind[]> {
    return filter(kinds, (kind) => contender.calls.tryAcquire(kind, this.name(kind)));
  }

  async believedHeld(contender: ContenderProcess): Promise<LockKind[]> {
    return filter(LOCK_KINDS, (kind) => contender.calls.believesToHold(this.name(kind)));
  }

  async releaseAll(contender: ContenderProcess): Promise<void> {
    await Promise.all(LOCK_KINDS.map((kind) => contender.calls.release(this.name(kind))));
  }

  /** The next one tries again and again, for three leases. Resolves to those that it got. */
  async takeOver(): Promise<LockKind[]> {
    const end = performance.now() + 3 * this.lease;
    const got: LockKind[] = [];
    while (got.length < LOCK_KINDS.length && performance.now() < end) {
      const taken = LOCK_KINDS.filter((kind) => !got.includes(kind));
      got.push(...(await this.tryAcquire(this.next, taken)));
      await delay(LOOK_INTERVAL);
    }
    return got;
  }

  /**
   * Those that somebody wanted and did not get, because their key has no lease: nothing will ever remove it.
   *
   * @throws Error when one of them does have a lease, and so should have been free.
   */
  async stuck(granted: readonly LockKind[]): Promise<LockKind[]> {
    const refused = LOCK_KINDS.filter((kind) => !granted.includes(kind));
    const leases = await Promise.all(
      refused.map((kind) => this.cast.redis.pttl(keyOf(kind, this.name(kind)))),
    );
    const late = refused.find((_kind, index) => leases[index] !== WITHOUT_LEASE);
    if (late !== undefined)
      throw new Error(`${late} was not free when its lease was over: try a longer --lease`);
    return refused;
  }
}

async function filter(
  kinds: readonly LockKind[],
  holds: (kind: LockKind) => Promise<boolean>,
): Promise<LockKind[]> {
  const answers = await Promise.all(kinds.map(holds));
  return kinds.filter((_kind, index) => answers[index]);
}
