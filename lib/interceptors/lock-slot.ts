import { AsyncLocalStorage } from 'node:async_hooks';
import type { ExecutionContext } from '@nestjs/common';
import type { Lock } from '../interfaces/lock.interface.js';
import type { LockService } from '../lock.service.js';
import { Abandonment } from './abandonment.js';
import { assertNotLost } from './assert-not-lost.js';
import { releaseQuietly } from './release-quietly.js';

const storage = new AsyncLocalStorage<LockSlot>();

/**
 * Where a locked method leaves its hold for the {@link LockInterceptor} of its invocation, which
 * releases it when all interceptors inside have ended.
 *
 * One call has the slot at a time. A later call of the same invocation, as a retrying interceptor makes
 * it, finds the hold of the earlier one and goes on under it.
 */
export class LockSlot {
  /** The service of the call that claimed the slot. */
  service: LockService | undefined;
  private readonly holds = new Set<Lock>();
  private waiting: Abandonment | undefined;
  private busy = false;
  private over = false;

  constructor(private readonly context: ExecutionContext) {}

  /** The slot of the innermost invocation around the caller. */
  static current(): LockSlot | undefined {
    return storage.getStore();
  }

  /** Aborts when the invocation ends before the call does: nobody is interested in its wait any more. */
  get abandoned(): Abandonment {
    return (this.waiting ??= new Abandonment());
  }

  /** Runs what is to find this slot. */
  run<T>(work: () => T): T {
    return storage.run(this, work);
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

  /** Takes the slot for one call; false while another has it, and once the invocation is over. */
  claim(): boolean {
    if (this.busy || this.over) return false;
    this.busy = true;
    return true;
  }

  /** The hold that an earlier call of this invocation left for the same names, if it can still be trusted. */
  holdOf(keys: readonly string[]): Lock | undefined {
    for (const lock of this.holds) {
      if (lock.keys.length !== keys.length || !lock.keys.every((key, index) => key === keys[index])) continue;
      if (lock.held) return lock;
      this.holds.delete(lock);
      void releaseQuietly(lock);
    }
    return undefined;
  }

  add(lock: Lock): void {
    this.holds.add(lock);
  }

  /** Ends the call that has the slot: what it holds is the slot's from now on. */
  leave(): void {
    this.busy = false;
    this.waiting = undefined;
    if (this.over) this.releaseAll();
  }

  /** Throws LockLostError where a hold ended before the invocation did. */
  assertNotLost(): void {
    for (const lock of this.holds) assertNotLost(lock);
  }

  /** Ends the invocation. A call that is still at work, because its client went away, keeps its hold until it ends. */
  close(): void {
    this.over = true;
    this.waiting?.abort();
    if (!this.busy) this.releaseAll();
  }

  private releaseAll(): void {
    for (const lock of this.holds) void releaseQuietly(lock);
    this.holds.clear();
  }
}
