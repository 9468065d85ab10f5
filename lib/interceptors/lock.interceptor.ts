import {
  Inject,
  Injectable,
  Optional,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { finalize, Observable, type Subscriber } from 'rxjs';
import { exceptionFor } from '../answers/exception-for.js';
import { isLockError } from '../errors/lock.error.js';
import { LockService } from '../lock.service.js';
import { LockSlot } from './lock-slot.js';

/**
 * Keeps the hold of a `@Locked` handler until all interceptors inside this one have ended: a transaction
 * has committed, the last event of a stream is sent, or the client is gone. In HTTP and GraphQL it
 * also turns lock errors into the form that clients expect, with the statuses of the module's `http` option.
 *
 * `@Locked` registers it on the class, outside every interceptor of class and methods. Use it yourself only
 * on a class without locked methods, whose lock errors should become HTTP statuses too.
 *
 * @example
 * ```ts
 * @UseInterceptors(LockInterceptor)
 * @Controller('reports')
 * export class ReportsController {}
 * ```
 */
@Injectable()
export class LockInterceptor implements NestInterceptor {
  constructor(
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Optional() @Inject(LockService) private readonly service?: LockService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    // Registered twice, for the application and on the class: the outer one serves.
    if (LockSlot.current()?.isOf(context) === true) return next.handle();
    const slot = new LockSlot(context);
    const handled = slot.run(() => next.handle());
    // By hand, since the operators that it stands for would cost each request more than the lock's own work here.
    const checked = new Observable((subscriber: Subscriber<unknown>) => {
      const fail = (error: unknown): void =>
        subscriber.error(this.translate(error, context, slot.service ?? this.service));
      return handled.subscribe({
        next: (value) => subscriber.next(value),
        error: fail,
        complete: () => {
          try {
            slot.assertNotLost();
          } catch (error) {
            return fail(error);
          }
          subscriber.complete();
        },
      });
    });
    // The slot by closure: code in finalize does not see the async context.
    return checked.pipe(finalize(() => slot.close()));
  }

  private translate(error: unknown, context: ExecutionContext, service: LockService | undefined): unknown {
    if (!isLockError(error)) return error;
    return exceptionFor(error, context, this.adapterHost.httpAdapter, service) ?? error;
  }
}
