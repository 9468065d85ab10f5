import type { ExecutionContext } from '@nestjs/common';
import { CombinedLock } from '../../engine/hold/combined-lock.js';
import type { GrantedLock, Lock } from '../../engine/hold/lock.interface.js';
import type { LockService } from '../../service/lock.service.js';
import { Invocation } from '../../service/invocation/invocation.js';
import { NestedHold } from '../../service/reentrance/nested-hold.js';
import type { Abandonment } from '../../primitives/abandonment.js';
import { ClientAbandonment } from './client-abandonment.js';
import { assertNotLost, releaseQuietly } from './while-held.js';

/**
 * Takes the hold of a locked method for the {@link LockInterceptor} of its invocation, which releases it when all inner
 * interceptors have ended.
 *
 * One call has the slot at a time, together with its nested calls of the same handler. Such calls come from a second
 * `@Locked` on the method, or from the overridden method. A later call of the same invocation, for example by a
 * retrying interceptor, finds the holds of the earlier call and continues under them.
 */
export class LockSlot extends Invocation {
  /** The service of the call that claimed the slot. */
  service: LockService | undefined;
  /** Holds of ended calls. */
  private readonly holds: Lock[] = [];
  /** The methods whose calls have the slot, outermost first. */
  private readonly calls: object[] = [];
  /** Methods among `calls` that the outermost one has called again. */
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
   * Aborts when the invocation or its client's connection ends before the call does, which ends its wait. Undefined for
   * a nested call, because the outer work has begun and continues.
   */
  get abandoned(): Abandonment | undefined {
    return this.calls.length > 1 ? undefined : this.client;
  }

  isOf(context: ExecutionContext): boolean {
    return this.context === context;
  }

  /**
   * Whether the invocation belongs to the given method. Compares the place in the class as well as the function.
   * Another decorator may have wrapped the locked function, or an agent may have replaced it after Nest read the
   * handler.
   */
  isOfMethod(prototype: object, propertyKey: string | symbol, wrapper: object | undefined): boolean {
    const handler = this.context.getHandler();
    const invoked: object = this.context.getClass().prototype;
    if (invoked !== prototype && !Object.prototype.isPrototypeOf.call(prototype, invoked)) return false;
    return handler === wrapper || handler === (invoked as Record<string | symbol, unknown>)[propertyKey];
  }

  /**
   * Claims the slot for a call of one of the handler's methods; returns false while another call has the slot, and
   * after the end of the invocation.
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

  /** Takes the hold of an earlier call of this invocation for the same names, if it is still certain. */
  takeHold(keys: readonly string[]): Lock | undefined {
    const lock = this.holds.find(
      (hold) => hold.keys.length === keys.length && hold.keys.every((key, i) => key === keys[i]),
    );
    if (!lock) return undefined;
    this.holds.splice(this.holds.indexOf(lock), 1);
    if (lock.held) return lock;
    void releaseQuietly(lock);
    return undefined;
  }

  /** Ends a call that has the slot: its hold belongs to the slot from now on. */
  leave(method: object, lock?: Lock): void {
    const isInner = method !== this.calls[0];
    if (this.calls.at(-1) === method) this.calls.pop();
    else this.calls.splice(this.calls.indexOf(method), 1);
    // An inner hold is released at once. Until the end of the invocation, it would block the other call, for which the
    // invocation waits, and all calls that enter the outer hold.
    if (lock && isInner && (this.called?.delete(method) || isPartOfAnother(lock))) void releaseQuietly(lock);
    else if (lock) this.holds.push(lock);
    if (this.calls.length === 0 && this.over) void this.releaseAll();
  }

  /** Throws LockLostError if a hold ended before the invocation did. */
  assertNotLost(): void {
    for (const lock of this.holds) assertNotLost(lock);
  }

  /**
   * Ends a successful invocation: settles when its holds are released; returns undefined without holds.
   *
   * @throws LockLostError if a hold ended before the invocation did, or while nested calls delayed its release.
   */
  complete(): Promise<void> | undefined {
    return this.holds.length > 0 ? this.completeHolding() : this.close();
  }

  private async completeHolding(): Promise<void> {
    this.assertNotLost();
    await this.close();
    // A mock of a lock may lack this method.
    for (const lock of this.holds as Partial<GrantedLock>[]) lock.assertNotLost?.();
  }

  /**
   * Ends the invocation: settles when its holds are released; returns undefined without holds. A call that still works,
   * because its client disconnected, keeps its hold until it ends.
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

/** Whether a hold is an entry into another one, which outlives it. */
function isPartOfAnother(lock: Lock): boolean {
  return lock instanceof CombinedLock ? lock.holds.every(isPartOfAnother) : lock instanceof NestedHold;
}
