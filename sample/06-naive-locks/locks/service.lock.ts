import type { Lock, LockService } from 'nest-redis-lock';
import type { ContestedLock } from './contested-lock.js';

/** The lock of this package: lease, renewal, and an owner that a release is compared with. */
export class ServiceLock implements ContestedLock {
  private lock: Lock | undefined;

  constructor(
    private readonly locks: LockService,
    private readonly name: string,
  ) {}

  async tryAcquire(): Promise<boolean> {
    this.lock = await this.locks.tryAcquire(this.name);
    return this.lock !== undefined;
  }

  /** Unlike the naive ones it can tell, and a holder that was away too long learns it. */
  get held(): boolean {
    return this.lock?.held ?? false;
  }

  async release(): Promise<void> {
    await this.lock?.release();
  }
}
