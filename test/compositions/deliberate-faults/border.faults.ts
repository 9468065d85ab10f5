import type { DeliberateFault } from '../../simulation/deliberate-faults/deliberate-fault.js';

const locked = 'lib/nest/locked';
const slot = `${locked}/lock-slot.ts`;
const interceptor = `${locked}/lock.interceptor.ts`;

/** What could go wrong between Nest and the engine. */
export const borderFaults: readonly DeliberateFault[] = [
  {
    fault: 'the slot is around the call of the handler, not around the subscription',
    file: interceptor,
    text: `if (known !== undefined) return known.around(next, true);
    const slot = new LockSlot(context);`,
    instead: `if (known !== undefined) return next.handle();
    const slot = new LockSlot(context);
    slot.around = () => slot.run(() => next.handle());`,
  },
  {
    fault: 'the handler is found by the identity of its function only',
    file: `${locked}/locked-call.ts`,
    text: 'const invocation = current && isHandlerOf(current.context, method, instance) ? current : undefined;',
    instead: 'const invocation = current?.context.getHandler() === wrapper ? current : undefined;',
  },
  {
    fault: 'the lock is released when the handler ends, not when its interceptors end',
    file: slot,
    text: 'this.keep(lock);',
    instead: 'void releaseQuietly(lock);',
  },
  {
    fault: 'a stream is released before its finalizers when its subscriber leaves',
    file: `${locked}/end-after.ts`,
    text: 'if (subscriber.closed) return leave();',
    instead: 'subscriber.add(leave); if (subscriber.closed) return;',
  },
  {
    fault: 'a wait goes on when its request has ended',
    file: 'lib/primitives/abandonment.ts',
    text: 'if (this.aborted) return;',
    instead: 'return;',
  },
  {
    fault: 'a stream runs outside the context of its hold',
    file: `${locked}/while-held.ts`,
    text: 'return within(() =>',
    instead: 'return (<R>(subscribe: () => R): R => subscribe())(() =>',
  },
  {
    fault: 'the hold of an earlier attempt is forgotten',
    file: slot,
    text: 'if (lock.held) return lock;',
    instead: '',
  },
  {
    fault: 'an answer does not await the release',
    file: `${locked}/end-after.ts`,
    text: 'else void closed.then(finish, fail);',
    instead: 'else finish();',
  },
  {
    fault: 'a stream is released at its first value',
    file: interceptor,
    text: '(isStreamed ||= isStreamedBody(value))',
    instead: '((isStreamed ||= isStreamedBody(value)), slot.close("completed"))',
  },
  {
    fault: 'an error of the handler is replaced',
    file: interceptor,
    text: 'this.adapterHost.httpAdapter, service) : error;',
    instead: 'this.adapterHost.httpAdapter, service) : new Error(String(error));',
  },
  {
    fault: 'the lock of a file is released before the file is sent',
    file: interceptor,
    text: 'return value instanceof StreamableFile ||',
    instead: 'return false &&',
  },
  {
    fault: 'a stream from a Promise leaves the slot before it has ended',
    file: `${locked}/locked-call.ts`,
    text: 'if (slot !== undefined) return slot.leaveAfter(held, () => slot.leave(this.method, lock));',
    instead: 'if (slot !== undefined) { slot.leave(this.method, lock); return held; }',
  },
  {
    fault: 'the interceptors of a request do not reuse the lock that it keeps',
    file: 'lib/service/reentrance/lock-context.ts',
    text: 'if (!(each instanceof Invocation)) return selectOwn(each);',
    instead: 'return selectOwn(each);',
  },
  // The last one: calls hang, and their timers would count as those of the next fault.
  {
    fault: 'a second call of the handler does not wait for its turn',
    file: slot,
    text: 'if (isBeside) {',
    instead: 'if (false) {',
  },
];

/** Those that only one in a thousand compositions shows. */
export const rareBorderFaults: readonly DeliberateFault[] = [
  {
    fault: 'a handler is called again when its request ended while it waited',
    file: slot,
    text: `this.end(this.ended);
    this.releasing = this.releaseAll('left');`,
    instead: `this.end();
    this.releasing = this.releaseAll('left');`,
  },
  {
    fault: 'a handler is called again when its request has ended',
    file: slot,
    text: 'if (this.isAround && !this.isInnermost) return undefined;',
    instead: 'return undefined;',
  },
];
