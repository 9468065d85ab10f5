import type { ExecutionContext } from '@nestjs/common';
import { CombinedLock } from '../../engine/hold/combined-lock.js';
import type { GrantedLock } from '../../engine/hold/granted-lock.interface.js';
import type { Lock } from '../../engine/hold/lock.interface.js';
import type { LockService } from '../../service/lock.service.js';
import { Invocation } from '../../service/invocation/invocation.js';
import { NestedHold } from '../../service/reentrance/nested-hold.js';
import type { Abandonment } from '../../primitives/abandonment.js';
import { ClientAbandonment } from './client-abandonment.js';
import { assertNotLost, releaseQuietly } from './end-of-hold.js';

/**
 * Where a locked method leaves its hold for the {@link LockInterceptor} of its invocation, which
 * releases it when all interceptors inside have ended.
 *
 * One call has the slot at a time, and with it those of the same handler that it makes itself: of a second `@Locked`
 * on the method, or of what it overrides. A later call of the same invocation, as a retrying interceptor makes it,
 * finds the holds of the earlier one and goes on under them.
 */
export class LockSlot extends Invocation {
  /** The service of the call that claimed the slot. */
  service: LockService | undefined;
  /** What calls that are over have left. */
  private readonly holds: Lock[] = [];
  /** The methods whose calls have the slot, the outermost first. */
  private readonly calls: object[] = [];
  /** Those among them that were called once more meanwhile, on the outermost one's behalf. */
  private called: Set<object> | undefined;
  private over = false;
  declare protected readonly client: ClientAbandonment;

  constructor(readonly context: ExecutionContext) {
    super(new ClientAbandonment(context));
  }

  /** The slot of the innermost invocation around the caller. */
  static override current(): LockSlot | undefined {
    const current = super.current();
    return current instanceof LockSlot ? current : undefined;
  }

  /**
   * Aborts when the invocation or its client's connection ends before the call does: nobody is interested in its wait any
   * more. Not for a call within another one, whose work has begun and goes on.
   */
  get abandoned(): Abandonment | undefined {
    return this.calls.length > 1 ? undefined : this.client;
  }

  isOf(context: ExecutionContext): boolean {
    return this.context === context;
  }

  /**
   * Whether the invocation is that of the given method. By its place in the class as well as by function, since
   * another decorator may have put its own function around the locked one, and an agent may have put one into the
   * class after Nest had taken the handler from there.
   */
  isOfMethod(prototype: object, propertyKey: string | symbol, wrapper: object | undefined): boolean {
    const handler = this.context.getHandler();
    const invoked: object = this.context.getClass().prototype;
    if (invoked !== prototype && !Object.prototype.isPrototypeOf.call(prototype, invoked)) return false;
    return handler === wrapper || handler === (invoked as Record<string | symbol, unknown>)[propertyKey];
  }

  /**
   * Takes the slot for a call of one of the methods that make up the handler; false while another call of it has the
   * slot, and once the invocation is over.
   */
  claim(method: object): boolean {
    if (this.over) return false;
    if (this.calls.includes(method)) {
      if (method !== this.calls[0]) (this.called ??= new Set()).add(method);
      return false;
    }
    this.calls.push(method);
    this.begin();
    return true;
  }

  /** Takes the hold that an earlier call of this invocation left for the same names, if it can still be trusted. */
  takeHold(keys: readonly string[]): Lock | undefined {
    if (this.holds.length === 0) return undefined;
    const index = this.holds.findIndex(
      (lock) => lock.keys.length === keys.length && lock.keys.every((key, i) => key === keys[i]),
    );
    if (index === -1) return undefined;
    const [lock] = this.holds.splice(index, 1);
    if (lock?.held) return lock;
    if (lock) void releaseQuietly(lock);
    return undefined;
  }

  /** Ends a call that has the slot: what it holds is the slot's from now on. */
  leave(method: object, lock?: Lock): void {
    const isInner = method !== this.calls[0];
    if (this.calls.at(-1) === method) this.calls.pop();
    else this.calls.splice(this.calls.indexOf(method), 1);
    // Kept, it would hold up the other call, for which the invocation waits, or whoever else enters the outer hold.
    if (lock && isInner && (this.called?.delete(method) || isPartOfAnother(lock))) void releaseQuietly(lock);
    else if (lock) this.holds.push(lock);
    if (this.calls.length === 0 && this.over) void this.releaseAll();
  }

  /** Throws LockLostError where a hold ended before the invocation did. */
  assertNotLost(): void {
    for (const lock of this.holds) assertNotLost(lock);
  }

  /**
   * Ends an invocation that has succeeded: settles when its holds are released, and gives nothing where there are none.
   *
   * @throws LockLostError where a hold ended before the invocation did, or while calls that were still inside held it up.
   */
  complete(): Promise<void> | undefined {
    return this.holds.length > 0 ? this.completeHolding() : this.close();
  }

  private async completeHolding(): Promise<void> {
    this.assertNotLost();
    await this.close();
    // What a test provides in place of a lock cannot tell.
    for (const lock of this.holds as Partial<GrantedLock>[]) lock.assertNotLost?.();
  }

  /**
   * Ends the invocation: settles when its holds are released, and gives nothing where there are none. A call that is still
   * at work, because its client went away, keeps its hold until it ends.
   */
  close(): Promise<void> | undefined {
    this.over = true;
    this.begin();
    if (this.calls.length > 0) this.client.abort();
    else this.client.stopListening();
    return this.calls.length > 0 || this.holds.length === 0 ? undefined : this.releaseAll();
  }

  /** Ends the waits of an invocation whose client has left. */
  abandon(): void {
    this.client.abort();
  }

  private async releaseAll(): Promise<void> {
    await Promise.all(this.holds.map(releaseQuietly));
  }
}

/** Whether a hold has entered another one, which outlives it. */
function isPartOfAnother(lock: Lock): boolean {
  return lock instanceof CombinedLock ? lock.holds.every(isPartOfAnother) : lock instanceof NestedHold;
}
