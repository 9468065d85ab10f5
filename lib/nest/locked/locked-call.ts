import { callFrom } from '../../diagnostics/call-origin.js';
import { defer, from, Observable, of, type Subscriber } from 'rxjs';
import { Abandonment } from '../../primitives/abandonment.js';
import { LockSlot } from './lock-slot.js';
import { endAfter } from './end-after.js';
import { isHandlerOf } from './invoked-handler.js';
import { assertNotLost, releaseQuietly, whileHeld } from './while-held.js';
import type { GrantedLock, Lock } from '../../engine/hold/lock.interface.js';
import { noteOrigin } from '../../service/invocation/invocation.js';
import { assertNotLate, isStream } from '../../service/invocation/late-work.js';
import { OnceLock, SharedResult } from '../../service/once/once-lock.js';
import { LockService } from '../../service/lock.service.js';
import type { AnyFunction, LockedMethod } from './locked-method.js';

/** A run of a locked method. */
class LockedCall {
  private service: Partial<LockService> | undefined;
  /** The slot of its invocation, if this call has it. */
  private slot: LockSlot | undefined;

  /** @param invocation the slot of the invocation that it is a call of, if any. */
  constructor(
    private readonly method: LockedMethod,
    private readonly instance: object,
    private readonly args: readonly unknown[],
    private readonly invocation: ReturnType<typeof LockSlot.innermost>,
  ) {}

  /** Runs a method that returns a Promise. */
  async settle(): Promise<unknown> {
    let lock: Lock;
    try {
      const granted = await this.grant();
      if (granted instanceof SharedResult) {
        const result = granted.copy();
        this.slot?.leave(this.method);
        return result;
      }
      lock = granted;
      this.method.assertGranted(lock);
    } catch (error) {
      noteOrigin(error, this.service?.options);
      this.slot?.leave(this.method);
      return this.method.refuse(error, this.instance, this.args);
    }
    let result: unknown;
    try {
      const working = this.work(lock);
      if (isStream(working) && this.slot === undefined) this.method.warnOfUntypedStream();
      result = await working;
      if (lock instanceof OnceLock) await this.keep(lock, result);
      else if (isStream(result)) this.method.assertEndsStreams(lock);
      else {
        // Nest reads the results of handlers before the release.
        if (this.slot === undefined) assertNotLate(lock, result);
        assertNotLost(lock);
      }
    } catch (error) {
      await this.leave(lock);
      noteOrigin(error, this.service?.options);
      throw error;
    }
    if (isStream(result)) return this.holdUntilEnd(lock, result);
    await this.leave(lock);
    // The release waited for nested calls, during which the hold may have been lost. A mock of a lock may lack this
    // method.
    (lock as Partial<GrantedLock>).assertNotLost?.();
    return result;
  }

  /** Runs a method that returns an Observable, for one subscriber. */
  async stream(subscriber: Subscriber<unknown>): Promise<void> {
    const unsubscribed = new Abandonment();
    subscriber.add(() => unsubscribed.abort());
    let lock: Lock;
    try {
      lock = (await this.grant(unsubscribed)) as Lock;
      this.method.assertGranted(lock);
      this.method.assertEndsStreams(lock);
    } catch (error) {
      noteOrigin(error, this.service?.options);
      this.slot?.leave(this.method);
      defer(() => asObservable(this.method.refuse(error, this.instance, this.args))).subscribe(subscriber);
      return;
    }
    // If the subscriber has already unsubscribed, rxjs only runs the finalizers and does not start the work.
    const held = whileHeld(
      lock,
      (subscribe) => this.inContext(lock, subscribe),
      defer(() => asObservable(this.work(lock))),
    );
    endAfter(held, { close: () => this.leave(lock) }).subscribe(subscriber);
  }

  /**
   * Claims the slot of the invocation, and acquires the lock. Not an async function: its additional promises would cost
   * each request of a locked route.
   *
   * @param caller aborts when the subscriber of an Observable leaves.
   */
  private grant(caller?: Abandonment): Promise<Lock | SharedResult> | Lock {
    const claimed = this.invocation?.claim(this.method, caller);
    if (claimed instanceof Promise) return claimed.then((slot) => this.acquire(slot, caller));
    return this.acquire(claimed, caller);
  }

  private acquire(
    slot: LockSlot | undefined,
    caller: Abandonment | undefined,
  ): Promise<Lock | SharedResult> | Lock {
    this.slot = slot;
    const service = this.method.serviceOf(this.instance);
    this.service = service;
    if (this.slot !== undefined) this.slot.service ??= service;
    const keys = this.method.keys(this.instance, this.args);
    const kept = this.slot?.takeHold(keys);
    if (kept !== undefined) return kept;
    const options = this.method.optionsOf(this.slot?.abandoned, caller);
    const granting = callFrom(this.method.originOf(this.instance), () =>
      this.method.request(service, keys, options),
    );
    return slot === undefined ? granting : this.unlessGone(slot, granting);
  }

  /** Releases a lock that was granted after the client had left: no work runs for that client. */
  private async unlessGone(
    slot: LockSlot,
    granting: Promise<Lock | SharedResult>,
  ): Promise<Lock | SharedResult> {
    const lock = await granting;
    const { refusal } = slot;
    if (refusal === undefined || lock instanceof SharedResult) return lock;
    await releaseQuietly(lock);
    throw refusal;
  }

  /** Keeps the result of a run now, or with the end of the invocation. */
  private async keep(lock: OnceLock, result: unknown): Promise<void> {
    if (isStream(result)) throw this.method.unkeptStream();
    assertNotLost(lock);
    lock.note(result);
    if (this.slot === undefined) await lock.keepResult();
  }

  private work(lock: Lock): unknown {
    if (this.invocation === undefined) this.method.strayRuns += 1;
    this.slot?.hold(this.method, lock);
    return this.inContext(lock, () => this.method.run(this.instance, this.args, lock));
  }

  /** Runs the work in the context of the lock. A mock of LockService has no contexts, and might not run the work. */
  private inContext<T>(lock: Lock, work: () => T): T {
    return this.service instanceof LockService ? this.service.runInContext(lock, work) : work();
  }

  /** Ends the run: releases its hold now, or with the invocation. */
  private leave(lock: Lock): Promise<void> | void {
    if (this.slot === undefined) return releaseQuietly(lock);
    this.slot.leave(this.method, lock);
  }

  /**
   * Keeps the hold for an Observable from a Promise: until its last subscriber has left, or until the current lease
   * ends without a subscriber.
   */
  private holdUntilEnd(lock: Lock, stream: Observable<unknown>): Observable<unknown> {
    const held = whileHeld(lock, (subscribe) => this.inContext(lock, subscribe), stream);
    const { slot } = this;
    if (slot !== undefined) return slot.leaveAfter(held, () => slot.leave(this.method, lock));
    const unsubscribed = setTimeout(() => void releaseQuietly(lock), lock.remaining).unref();
    let subscribers = 0;
    return defer(() => {
      lock.assertHeld();
      clearTimeout(unsubscribed);
      subscribers += 1;
      return endAfter(held, {
        close: () => {
          subscribers -= 1;
          return subscribers === 0 ? releaseQuietly(lock) : undefined;
        },
      });
    });
  }
}

function asObservable(value: unknown): Observable<unknown> {
  if (isStream(value)) return value;
  return value instanceof Promise ? from(value) : of(value);
}

/** Creates the function that replaces a method, with its name, its length and the metadata of decorators below. */
export function wrapMethod(method: LockedMethod): AnyFunction {
  const { original } = method;
  const wrapper = new Proxy(original, {
    apply(_original, instance: object, args: unknown[]): unknown {
      const current = LockSlot.innermost();
      const invocation = current && isHandlerOf(current.context, method, instance) ? current : undefined;
      const run = () => new LockedCall(method, instance, args, invocation);
      if (!method.returnsObservable) return run().settle();
      return new Observable((subscriber) => void run().stream(subscriber));
    },
  });
  for (const key of Reflect.getOwnMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), wrapper);
  }
  return wrapper;
}
