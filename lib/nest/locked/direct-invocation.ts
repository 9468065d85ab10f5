import type { ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { ExternalContextCreator } from '@nestjs/core';
import { SSE_METADATA } from '@nestjs/common/constants.js';
import { LockInterceptor } from './lock.interceptor.js';

/** Number of parameters of `intercept`; a second copy of this package finds the same number. */
const PARAMETERS = 6;

/** Nest's class that runs the interceptors of an invocation, with one object for each kind of invocation. */
interface InterceptorsConsumer {
  createContext(
    args: unknown[],
    instance: object,
    callback: object,
  ): ExecutionContext & { setType(type: string): void };
  intercept: (
    this: InterceptorsConsumer,
    interceptors: readonly NestInterceptor[],
    args: unknown[],
    instance: object,
    callback: object,
    next: () => Promise<unknown>,
    type: string,
  ) => Promise<unknown>;
}

const consumers = new WeakSet<object>();
const servedDirectly = new WeakSet<NestInterceptor>();

/**
 * Lets Nest call the handler of an HTTP route without rxjs, if the given interceptor is the only one around it. The
 * path through rxjs would cost CPU time on every route of the application, with and without a lock.
 *
 * @returns false if this version of Nest lacks the expected class. It then calls the handlers itself, as for routes
 *   with other interceptors.
 */
export function serveDirectly(interceptor: LockInterceptor, creator: ExternalContextCreator): boolean {
  const consumer: Partial<InterceptorsConsumer> = Object.getPrototypeOf(
    creator['interceptorsConsumer'] ?? {},
  );
  const isKnown =
    consumers.has(consumer) || (consumer.intercept?.length === PARAMETERS && 'createContext' in consumer);
  if (!isKnown) return false;
  servedDirectly.add(interceptor);
  replaceIntercept(consumer as InterceptorsConsumer);
  return true;
}

/** Replaces the method once for each class, because its objects serve all applications of a process. */
function replaceIntercept(consumer: InterceptorsConsumer): void {
  if (consumers.has(consumer)) return;
  consumers.add(consumer);
  const original = consumer.intercept;
  consumer.intercept = function (
    this: InterceptorsConsumer,
    interceptors,
    args,
    instance,
    callback,
    next,
    type,
  ) {
    const [own] = interceptors;
    const isDirect =
      type === 'http' &&
      own instanceof LockInterceptor &&
      servedDirectly.has(own) &&
      interceptors.every((interceptor) => interceptor instanceof LockInterceptor);
    // The reply of an SSE stream may end before it has begun, without a subscriber.
    if (!isDirect || Reflect.hasMetadata(SSE_METADATA, callback))
      return original.call(this, interceptors, args, instance, callback, next, type);
    const context = this.createContext(args, instance, callback);
    context.setType(type);
    return own.serve(context, next);
  };
}
