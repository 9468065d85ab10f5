import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { defer, Observable } from 'rxjs';
import { holdsOf } from '../../engine/hold/combined-lock.js';
import type { GrantedLock, Lock } from '../../engine/hold/lock.interface.js';
import type { LockService } from '../../service/lock.service.js';
import { OnceLock } from '../../service/once/once-lock.js';
import { NestedHold } from '../../service/reentrance/nested-hold.js';
import { Invocation } from '../../service/invocation/invocation.js';
import { Abandonment, onAbort } from '../../primitives/abandonment.js';
import { Enclosure } from '../../primitives/enclosure.js';
import { ClientAbandonment } from './client-abandonment.js';
import { endAfter, type Ending } from './end-after.js';
import { type InvokedHandler, lockedMethodsAt, invokedHandler } from './invoked-handler.js';
import type { LockedMethod } from './locked-method.js';
import { assertNotLost, releaseQuietly } from './while-held.js';

/** A call that has the slot. */
interface SlotCall {
  readonly method: LockedMethod;
  /** Its hold; undefined while it waits. */
  lock: Lock | undefined;
}

/** The slot, at the context that Nest passes to all interceptors: an entry of a WeakMap would cost 5 µs in each request. */
const SLOT = Symbol('nest-redis-lock slot');

/** The context of an invocation, with its slot. */
interface SlotContext extends ExecutionContext {
  [SLOT]?: LockSlot;
}

/**
 * Takes the hold of a locked method for the {@link LockInterceptor} of its invocation, which releases it when all inner
 * interceptors have ended.
 *
 * One call has the slot at a time, together with its nested calls of the same handler. Such calls come from a second
 * `@Locked` on the method, or from the overridden method. A later call of the same invocation, for example by a
 * retrying interceptor, finds the holds of the earlier call and continues under them. A call beside the one that has
 * the slot, for example by an interceptor that calls the handler twice, waits.
 */
export class LockSlot extends Invocation {
  /** The service of the call that claimed the slot. */
  service: LockService | undefined;
  /** The calls that have the slot, outermost first. */
  private readonly calls: SlotCall[] = [];
  /** Ends of calls whose Promise has resolved to a stream without a subscriber so far. */
  private readonly unsubscribed = new Set<() => void>();
  private readonly queue = new SlotQueue();
  /** Whether the handler has run in the slot. */
  isServed = false;
  /** What remains of an invocation whose handler may no longer run. */
  private ended: EndedInvocation | undefined;
  /** How often each locked method had run outside of a slot when the last interceptor called the handler. */
  private strays: ReadonlyMap<LockedMethod, number> | undefined;
  private over = false;
  /** Settles when the holds of a call that ended after the invocation are released. */
  private releasing: Promise<void> | undefined;
  declare protected readonly client: ClientAbandonment;

  constructor(readonly context: SlotContext) {
    super(new ClientAbandonment(context));
    context[SLOT] = this;
  }

  /** The slot of the innermost invocation around the caller, or what remains of the invocation. */
  static innermost(): LockSlot | EndedInvocation | undefined {
    return Enclosure.find((each) =>
      each instanceof LockSlot || each instanceof EndedInvocation ? each : undefined,
    );
  }

  /** The slot of an invocation, also where its async context is lost. */
  static of(context: SlotContext): LockSlot | undefined {
    return context[SLOT];
  }

  /**
   * Calls the next interceptor, or the handler, in the slot. Each subscription to the result also runs in the slot:
   * interceptors may call the handler as late as that.
   *
   * @param mayBeLast whether no other interceptor may be in between.
   */
  around(next: CallHandler, mayBeLast = false): Observable<unknown> {
    const handled = this.enter(() => next.handle());
    return new Observable((subscriber) => {
      if (mayBeLast)
        this.strays ??= new Map(lockedMethodsAt(this.context).map((method) => [method, method.strayRuns]));
      return this.enter(() => handled.subscribe(subscriber));
    });
  }

  /** Runs `work` in the slot. The context of another request, or its lock, must not be around the work. */
  private enter<T>(work: () => T): T {
    return this.isAround ? this.run(work) : this.restore(work);
  }

  /**
   * Aborts when the invocation or its client's connection ends before the call does, which ends its wait. Undefined for
   * a nested call, because the outer work has begun and continues.
   */
  get abandoned(): Abandonment | undefined {
    return this.calls.length > 1 ? undefined : this.client;
  }

  /** The reason why a call of the handler may not begin: the invocation, or its connection, has ended before. */
  get refusal(): unknown {
    return this.calls.length === 1 && this.client.isGone ? this.client.reason : undefined;
  }

  /**
   * Claims the slot for a call of one of the handler's methods. Returns undefined for a repeated call nested in the one
   * that has the slot, and after the end of the invocation. Returns a Promise if the call has to wait for the slot.
   * Throws an AbortError if the invocation ended before its handler ran.
   *
   * @param caller ends the wait for the slot.
   */
  claim(method: LockedMethod, caller: Abandonment | undefined): LockSlot | undefined | Promise<LockSlot> {
    const [outermost] = this.calls;
    const isBeside = outermost !== undefined && !surroundsCaller(outermost);
    // A: a call returns an Observable. B: Nest sees that the client has left, and ends the invocation. Then an interceptor
    // that awaits the call must not start it by subscribing.
    if (this.over) return outermost === undefined || isBeside ? this.ended?.claim() : undefined;
    if (isBeside) {
      const ends = new Abandonment(this.client.signal, caller?.signal);
      return this.queue.wait(ends, () => this.push(method));
    }
    return this.calls.some((call) => call.method === method) ? undefined : this.push(method);
  }

  private push(method: LockedMethod): this {
    this.calls.push({ method, lock: undefined });
    this.strays = undefined;
    this.begin();
    return this;
  }

  /** Notes the hold of a call that has the slot, right before its work runs. */
  hold(method: LockedMethod, lock: Lock): void {
    const call = this.calls.find((each) => each.method === method);
    if (call) call.lock = lock;
    for (const each of [lock, ...this.kept])
      if (each instanceof OnceLock && each.keys[0] === lock.keys[0]) each.begin();
    this.isServed = true;
  }

  /**
   * Takes the hold of an earlier call of this invocation for the same names, if it is still certain. While other code of
   * the invocation is inside, the call must reuse the hold like that code.
   */
  takeHold(keys: readonly string[]): Lock | undefined {
    const fits = (lock: Lock): boolean =>
      lock.keys.length === keys.length &&
      lock.keys.every((key, i) => key === keys[i]) &&
      !holdsOf(lock).some(({ reentry }) => reentry?.isBusy);
    for (const lock of this.kept.filter(fits)) {
      this.kept.splice(this.kept.indexOf(lock), 1);
      if (lock.held) return lock;
      void releaseQuietly(lock);
    }
    return undefined;
  }

  /** Ends a call that has the slot: its hold belongs to the slot from now on. */
  leave(method: LockedMethod, lock?: Lock): void {
    this.calls.splice(
      this.calls.findLastIndex((call) => call.method === method),
      1,
    );
    if (lock) {
      // An outer call may detach its hold, in which no entry may be left. The hold lasts as long as the entry would.
      const outer = this.calls.flatMap((call) => (call.lock ? holdsOf(call.lock) : []));
      for (const hold of holdsOf(lock)) {
        if (!(hold instanceof NestedHold)) continue;
        const isAwaited = isInReleased(hold);
        if (isAwaited || outer.includes(hold.outer)) void hold.release();
        if (isAwaited && lock instanceof OnceLock) lock.begin();
      }
      this.keep(lock);
    }
    if (this.calls.length > 0) return;
    if (!this.over) return this.queue.next();
    this.end(this.ended);
    this.releasing = this.releaseAll('left');
  }

  /**
   * Keeps the slot for a call whose Promise has resolved to a stream, until the stream has ended. Without a subscriber,
   * the call ends with the invocation.
   *
   * @param leave ends the call.
   */
  leaveAfter<T>(stream: Observable<T>, leave: () => void): Observable<T> {
    // The Promise may resolve after the end of the invocation. An interceptor that awaits the handler subscribes even then.
    if (this.over) leave();
    else this.unsubscribed.add(leave);
    return defer(() => {
      if (this.unsubscribed.delete(leave)) return endAfter(stream, { close: leave });
      if (this.over) throw abortError('The request ended before the stream of its handler began.');
      return stream;
    });
  }

  /**
   * Confirms the holds of a successful invocation before its end, and keeps the results of its runs. A failure ends the
   * invocation.
   *
   * @throws LockLostError if a hold ended before the invocation did.
   * @throws LockConfigError, or LockUnavailableError, for a result that is not kept.
   */
  async confirm(): Promise<void> {
    try {
      for (const lock of this.kept) assertNotLost(lock);
      for (const lock of this.kept) if (lock instanceof OnceLock) await lock.keepResult();
    } catch (error) {
      await this.close('failed');
      throw error;
    }
  }

  /**
   * Ends the invocation and its waits: settles when its holds are released; returns undefined without holds. A call that
   * still works, because its client disconnected, keeps its hold until it ends.
   *
   * @throws LockLostError if nested calls delayed the release of a completed invocation, and a hold was lost meanwhile.
   */
  close(how: Ending): Promise<void> | undefined {
    this.over = true;
    this.begin();
    if (!this.isServed) this.warnOfLostCalls();
    // An interceptor may reply from a cache, and call the handler later.
    if (this.isServed || how !== 'completed') {
      const Rest = this.isServed ? ServedInvocation : EndedInvocation;
      this.ended = new Rest(invokedHandler(this.context));
    }
    if (this.calls.length > 0 || how !== 'completed') this.client.abort();
    this.client.stopListening();
    for (const leave of this.unsubscribed) leave();
    this.unsubscribed.clear();
    // An interceptor that rejects a value ends the stream of a call, but only after it has passed on the error.
    if (this.calls.length > 0)
      return how === 'failed' ? Promise.resolve().then(() => this.releasing) : undefined;
    this.end(this.ended);
    return this.kept.length === 0 ? undefined : this.releaseAll(how);
  }

  /**
   * Warns about methods that ran outside of a slot after the last interceptor called the handler, whose slot nobody
   * claimed. An interceptor that replies from a cache does not call the handler. After the end of the application, a
   * call finds no context, and no lock either.
   */
  private warnOfLostCalls(): void {
    for (const [method, before] of this.strays ?? [])
      if (method.strayRuns > before) method.warnOfLostInvocation();
  }

  private async releaseAll(how: Ending): Promise<void> {
    await Promise.all(this.kept.map(releaseQuietly));
    // A mock of a lock may lack this method.
    if (how === 'completed') for (const lock of this.kept as Partial<GrantedLock>[]) lock.assertNotLost?.();
  }
}

/** Calls that wait for the slot, in arrival order. */
class SlotQueue {
  private readonly waiting = new Set<() => void>();

  /**
   * Waits for the slot, and then takes it by `take`, in the step that frees it.
   *
   * @param caller ends the wait: the Promise rejects with its reason.
   */
  wait<T>(caller: Abandonment, take: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (caller.aborted) return reject(caller.reason);
      const endWait = onAbort(caller.signal, () => {
        this.waiting.delete(begin);
        reject(caller.reason);
      });
      const begin = (): void => {
        this.waiting.delete(begin);
        endWait();
        resolve(take());
      };
      this.waiting.add(begin);
    });
  }

  /** Gives the slot to the next waiting call. */
  next(): void {
    const [begin] = this.waiting;
    begin?.();
  }
}

/**
 * What remains of an invocation that ended before its handler ran: its interceptors may no longer run the handler, whose
 * lock would end before they do. It refers to no request.
 */
class EndedInvocation extends Enclosure {
  constructor(readonly context: InvokedHandler) {
    super();
  }

  override get isRest(): boolean {
    return true;
  }

  /** Rejects a late call by an interceptor. */
  claim(): undefined {
    // Created here, because the stack of an error leads to the objects of its functions.
    throw abortError('The request ended before its handler ran.');
  }
}

/** What remains of an invocation whose handler has run. */
class ServedInvocation extends EndedInvocation {
  /** Rejects a late call by an interceptor. Work that a run of the handler has left behind may call it again. */
  override claim(): undefined {
    if (this.isAround && !this.isInnermost) return undefined;
    throw abortError('The request ended before its handler ran again.');
  }
}

function abortError(message: string): DOMException {
  return new DOMException(message, 'AbortError');
}

/**
 * Whether the running code is nested in a call. A mock of a lock has no context, and a hold that was released early has
 * none any more. The code then counts as nested, because otherwise the call could wait for itself.
 */
function surroundsCaller({ lock }: SlotCall): boolean {
  if (lock === undefined) return false;
  const [hold] = holdsOf(lock);
  return hold?.reentry?.isOpen !== true || hold.reentry.surroundsCaller;
}

/** Whether an outer hold of an entry is being released. An interceptor may await that, and the invocation its interceptor. */
function isInReleased({ outer }: NestedHold): boolean {
  return outer.reentry?.isOpen === false || (outer instanceof NestedHold && isInReleased(outer));
}
