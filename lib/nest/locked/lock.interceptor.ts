import {
  Inject,
  Injectable,
  Optional,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { HttpAdapterHost } from '@nestjs/core';
import { finalize, type Observable } from 'rxjs';
import { exceptionFor } from '../exceptions/exception-for.js';
import { keepRequests } from '../grpc/grpc-call.js';
import { isLockError } from '../../errors/lock.error.js';
import { LockService } from '../../service/lock.service.js';
import { connectionOf } from './client-abandonment.js';
import { endAfter } from './end-after.js';
import { LockSlot } from './lock-slot.js';

/**
 * Keeps the hold of a `@Locked` handler until all other interceptors have ended. By then a transaction has committed,
 * the last event of a stream or byte of a file is sent, or the client has disconnected. For HTTP and GraphQL it also converts
 * lock errors for clients, with the statuses of the module's `http` option.
 *
 * The module registers it in front of the global interceptors. `@Locked` registers it on the class, too, for handlers
 * without global interceptors: of gateways in Nest 11, and of microservices without `inheritAppConfig`. A handler with
 * interceptors of its own has it behind them as well. The first of them serves the invocation. The others find its slot
 * by the context that Nest passes to all, and restore it where an interceptor in between has lost the async context.
 */
@Injectable()
export class LockInterceptor implements NestInterceptor {
  constructor(
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Optional() @Inject(LockService) private readonly service?: LockService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const known = LockSlot.of(context);
    if (known !== undefined) return known.around(next, true);
    const slot = new LockSlot(context);
    const endKeeping = keepRequests(context);
    const handled = this.keepUntilEnd(slot, slot.around(next));
    return endKeeping === undefined ? handled : handled.pipe(finalize(endKeeping));
  }

  private keepUntilEnd(slot: LockSlot, handled: Observable<unknown>): Observable<unknown> {
    let isStreamed = false;
    // The closure keeps the slot, because code at the end of a stream lacks the async context.
    return endAfter(handled, {
      seen: (value) => (isStreamed ||= isStreamedBody(value)),
      close: (how) => {
        if (how !== 'completed') return slot.close(how);
        const close = (): Promise<void> | void => {
          if (!isStreamed || !slot.isServed) return slot.close(how);
          onceAnswered(slot.context, () => void slot.close('left'));
        };
        return slot.kept.length === 0 ? close() : slot.confirm().then(close);
      },
      translate: (error) => this.translate(error, slot),
    });
  }

  private translate(error: unknown, { context, service = this.service }: LockSlot): unknown {
    return isLockError(error) ? exceptionFor(error, context, this.adapterHost.httpAdapter, service) : error;
  }
}

/**
 * Puts the {@link LockInterceptor} in front of the interceptors of a class, unless it has it already.
 *
 * Not by `@UseInterceptors`, which appends: an inherited transaction interceptor would then be outside and commit after
 * the release.
 */
export function registerLockInterceptor(target: object): void {
  const registered: unknown[] = Reflect.getMetadata(INTERCEPTORS_METADATA, target) ?? [];
  if (registered.includes(LockInterceptor)) return;
  Reflect.defineMetadata(INTERCEPTORS_METADATA, [LockInterceptor, ...registered], target);
}

/**
 * Puts the {@link LockInterceptor} behind the interceptors of a handler as well, unless it is the last one already.
 *
 * An interceptor may call the handler from the callback of a pool, whose async context belongs to another request.
 */
export function registerBehindInterceptors(handler: object, type: object): void {
  const ofHandler: readonly unknown[] = Reflect.getMetadata(INTERCEPTORS_METADATA, handler) ?? [];
  const ofClass: readonly unknown[] = Reflect.getMetadata(INTERCEPTORS_METADATA, type) ?? [];
  if ([...ofClass, ...ofHandler].at(-1) === LockInterceptor) return;
  const others = ofHandler.filter((interceptor) => interceptor !== LockInterceptor);
  Reflect.defineMetadata(INTERCEPTORS_METADATA, [...others, LockInterceptor], handler);
}

/** Whether Nest streams a result after the interceptors have ended: a file, a stream, the Response of a fetch. */
function isStreamedBody(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof StreamableFile || Symbol.asyncIterator in value || value instanceof Response;
}

/** Runs `call` when the response has been sent, or can no longer be sent. */
function onceAnswered(context: ExecutionContext, call: () => void): void {
  const response = context.getType() === 'http' ? connectionOf(context) : undefined;
  if (response === undefined || response.destroyed || response.writableFinished) return call();
  // Not by finished() of Node, which adds two listeners for `close`: Fastify has nine, and Node warns beyond ten.
  const end = (): void => {
    response.off('finish', end);
    response.off('close', end);
    call();
  };
  response.on('finish', end);
  response.on('close', end);
}
