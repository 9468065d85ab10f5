import { onAbort } from '../../primitives/on-abort.js';
import { inRootContext } from '../../primitives/root-context.js';
import { isLockError } from '../../errors/lock.error.js';
import type { GrantedLock } from '../../engine/hold/granted-lock.interface.js';

/** A hold as the leader's work sees it: its signal aborts also when the campaign ends. */
export class Term implements GrantedLock {
  private readonly over = new AbortController();
  private readonly ends: readonly (() => void)[];

  constructor(
    private readonly hold: GrantedLock,
    campaign: AbortSignal,
  ) {
    this.ends = [hold.signal, campaign].map((signal) => {
      const stepDown = (): void => inRootContext(() => this.over.abort(signal.reason));
      if (signal.aborted) stepDown();
      return onAbort(signal, stepDown);
    });
  }

  get keys(): readonly string[] {
    return this.hold.keys;
  }

  get fencingToken(): number {
    return this.hold.fencingToken;
  }

  get signal(): AbortSignal {
    return this.over.signal;
  }

  get held(): boolean {
    return this.hold.held;
  }

  get remaining(): number {
    return this.hold.remaining;
  }

  get certainFor(): number {
    return this.hold.certainFor;
  }

  /** Whether the work ended with this error because it was told to: by the signal's reason, or by what stands for it. */
  isEndedBy(error: unknown): boolean {
    const { aborted, reason } = this.signal;
    if (isLockError(error) && error.code === 'LOCK_LOST' && error.keys.some((key) => this.keys.includes(key)))
      return true;
    if (!aborted || !(error instanceof Error)) return aborted && error === reason;
    return error === reason || error.cause === reason || error.name === 'AbortError';
  }

  /** Nobody looks at the signal any more. */
  end(): void {
    for (const end of this.ends) end();
  }

  fencingTokenOf(key: string): number {
    return this.hold.fencingTokenOf(key);
  }

  assertHeld(): void {
    this.hold.assertHeld();
  }

  assertNotLost(): void {
    this.hold.assertNotLost();
  }

  extend(ttl?: number): Promise<void> {
    return this.hold.extend(ttl);
  }

  detach(ttl?: number): Promise<string> {
    return this.hold.detach(ttl);
  }

  release(): Promise<void> {
    return this.hold.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
