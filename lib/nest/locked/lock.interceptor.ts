import { finished, type Writable } from 'node:stream';
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
import { tap, type Observable } from 'rxjs';
import { exceptionFor } from '../exceptions/exception-for.js';
import { isLockError } from '../../errors/lock.error.js';
import { LockService } from '../../service/lock.service.js';
import { endAfter } from './end-after.js';
import { LockSlot } from './lock-slot.js';

/**
 * Keeps the hold of a `@Locked` handler until all other interceptors have ended. By then a transaction has committed,
 * the last event of a stream or byte of a file is sent, or the client has disconnected. For HTTP and GraphQL it also converts
 * lock errors for clients, with the statuses of the module's `http` option.
 *
 * The module registers it in front of the global interceptors. `@Locked` registers it on the class, too, for handlers
 * without global interceptors: of gateways in Nest 11, and of microservices without `inheritAppConfig`.
 */
@Injectable()
export class LockInterceptor implements NestInterceptor {
  constructor(
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Optional() @Inject(LockService) private readonly service?: LockService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    // Registered for the application and on the class: the outer one is used.
    if (LockSlot.current()?.isOf(context) === true) return next.handle();
    const slot = new LockSlot(context);
    return this.keepUntilEnd(
      slot,
      slot.run(() => next.handle()),
    );
  }

  private keepUntilEnd(slot: LockSlot, handled: Observable<unknown>): Observable<unknown> {
    let isStreamed = false;
    const watched = handled.pipe(tap((value) => (isStreamed ||= isStreamedBody(value))));
    // The closure keeps the slot, because code at the end of a stream lacks the async context.
    return endAfter(watched, {
      close: (how) => {
        if (how === 'left') slot.abandon();
        if (!isStreamed) return how === 'completed' ? slot.complete() : slot.close();
        if (how === 'completed') slot.assertNotLost();
        return onceAnswered(slot.context, () => void slot.close());
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

/** Whether Nest streams a result after the interceptors have ended: a file, a stream, the Response of a fetch. */
function isStreamedBody(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof StreamableFile || Symbol.asyncIterator in value || value instanceof Response;
}

/** Runs `call` when the response has been sent, or can no longer be sent. */
function onceAnswered(context: ExecutionContext, call: () => void): void {
  if (context.getType() !== 'http') return call();
  const response = context.switchToHttp().getResponse<Writable & { readonly raw?: Writable }>();
  finished(response.raw ?? response, call);
}
