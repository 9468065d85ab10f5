import type { ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { ExternalContextCreator } from '@nestjs/core';
import { SSE_METADATA } from '@nestjs/common/constants.js';
import { LockInterceptor } from './lock.interceptor.js';

/** What runs the interceptors of an invocation; Nest has one for each kind of invocation, all of one class. */
interface InterceptorsConsumer {
  createContext(
    args: unknown[],
    instance: object,
    callback: object,
  ): ExecutionContext & { setType(type: string): void };
  intercept(
    interceptors: readonly NestInterceptor[],
    args: unknown[],
    instance: object,
    callback: object,
    next: () => Promise<unknown>,
    type: string,
  ): Promise<unknown>;
}

const direct = new WeakSet<object>();

/**
 * Lets Nest call the handler of an HTTP route without its way through rxjs, where the {@link LockInterceptor} is all
 * that is around it: that way would cost the request as much as acquire and release together. A Nest that has no such
 * class as expected goes its own way, as it does for routes with other interceptors.
 */
export function serveDirectly(creator: ExternalContextCreator): void {
  const consumer: Partial<InterceptorsConsumer> = Object.getPrototypeOf(
    creator['interceptorsConsumer'] ?? {},
  );
  const intercept: unknown = Reflect.get(consumer, 'intercept');
  if (typeof intercept !== 'function' || !('createContext' in consumer) || direct.has(consumer)) return;
  direct.add(consumer);
  consumer.intercept = function (this: InterceptorsConsumer, ...invocation) {
    const [interceptors, args, instance, callback, next, type] = invocation;
    const [own] = interceptors;
    const isDirect = type === 'http' && own instanceof LockInterceptor && interceptors.every(isOwn);
    // The answer of a stream of events may end before it has begun, and nobody would subscribe.
    if (!isDirect || Reflect.hasMetadata(SSE_METADATA, callback))
      return Reflect.apply(intercept, this, invocation);
    const context = this.createContext(args, instance, callback);
    context.setType(type);
    return own.serve(context, next);
  };
}

function isOwn(interceptor: NestInterceptor): boolean {
  return interceptor instanceof LockInterceptor;
}
