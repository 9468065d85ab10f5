import { BaseLock } from '../../engine/hold/base-lock.js';
import type { ReusableLock, Reentry } from '../../engine/hold/reentry.js';
import type { Duration } from '../../options/duration.js';
import { LockConfigError } from '../../errors/lock.error.js';
import { releasedError } from '../../engine/lock-errors.js';

/**
 * An entry into a hold of the enclosing context, with that hold's token and lease. Its release only admits the next
 * branch.
 */
export class NestedHold extends BaseLock implements ReusableLock {
  reentry: Reentry | undefined;
  private releasing: Promise<void> | undefined;
  private ended = false;

  constructor(
    readonly outer: ReusableLock,
    private readonly entry: Reentry,
  ) {
    super();
  }

  get keys(): readonly string[] {
    return this.outer.keys;
  }

  get mode(): 'exclusive' | 'shared' {
    return this.outer.mode;
  }

  get owner(): string {
    return this.outer.owner;
  }

  get permits(): number {
    return this.outer.permits;
  }

  get fencingToken(): number {
    return this.outer.fencingToken;
  }

  get signal(): AbortSignal {
    return this.outer.signal;
  }

  get leaseEnd(): number {
    return this.outer.leaseEnd;
  }

  get remaining(): number {
    return this.releasing ? 0 : this.certainFor;
  }

  get certainFor(): number {
    return this.ended ? 0 : this.outer.certainFor;
  }

  fencingTokenOf(key: string): number {
    return this.outer.fencingTokenOf(key);
  }

  assertHeld(): void {
    this.assertNotLost();
    if (this.releasing) throw releasedError(this.keys);
  }

  assertNotLost(): void {
    if (!this.ended) this.outer.assertNotLost();
  }

  extend(ttl?: Duration): Promise<void> {
    return this.outer.extend(ttl);
  }

  async detach(): Promise<string> {
    return this.assertCanDetach();
  }

  assertCanDetach(): never {
    throw new LockConfigError(
      'Only the outermost hold of a name can be detached: the calls around this one still rely on it.',
      { keys: this.keys },
    );
  }

  async detachFor(): Promise<never> {
    return this.assertCanDetach();
  }

  endBy(send: (releases: boolean) => Promise<boolean>): Promise<boolean> {
    return send(false);
  }

  loseAndRelease(): Promise<void> {
    return this.release();
  }

  release(): Promise<void> {
    this.releasing ??= this.end();
    return this.reentry?.isOwnWait ? Promise.resolve() : this.releasing;
  }

  private async end(): Promise<void> {
    await this.reentry?.close();
    this.ended = true;
    this.reentry?.context.endOfHold();
    this.entry.exit(this);
  }
}
