import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { catchError, concat, defer, EMPTY, finalize, throwError, type Observable } from 'rxjs';
import { isLockError, type LockError } from '../errors/lock.error.js';
import type { ResolvedModuleOptions } from '../interfaces/module-options.interface.js';
import { LockService } from '../lock.service.js';
import { HTTP_STATUS_DEFAULTS } from '../options/http-option.js';
import { lockHttpException, retryAfter } from './lock-http-exception.js';
import { LockSlot } from './lock-slot.js';

/**
 * Keeps the hold of a `@Locked` handler until all interceptors inside this one have ended: a transaction
 * has committed, the last event of a stream is sent, or the client is gone. In HTTP it also turns lock
 * errors into the statuses of the module's `http` option.
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
  private readonly logger = new Logger(LockInterceptor.name);

  constructor(
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Optional() @Inject(LockService) private readonly service?: LockService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    // Registered twice, for the application and on the class: the outer one serves.
    if (LockSlot.current()?.isOf(context) === true) return next.handle();
    const slot = new LockSlot(context);
    const handled = slot.run(() => next.handle());
    const checked = defer(() => {
      slot.assertNotLost();
      return EMPTY;
    });
    return concat(handled, checked).pipe(
      catchError((error: unknown) =>
        throwError(() => this.translate(error, context, slot.service ?? this.service)),
      ),
      // The slot by closure: code in finalize does not see the async context.
      finalize(() => slot.close()),
    );
  }

  private translate(error: unknown, context: ExecutionContext, service: LockService | undefined): unknown {
    if (context.getType() !== 'http' || !isLockError(error)) return error;
    const statuses = httpStatuses(service);
    if (statuses === false) return error;
    const status = statuses[error.code];
    // Nest logs what it does not know, but takes an HttpException for an answer that was meant.
    if (status === 500) this.logger.error(error.message, error.stack);
    this.adviseRetry(error, context);
    return lockHttpException(error, status);
  }

  private adviseRetry(error: LockError, context: ExecutionContext): void {
    const seconds = retryAfter(error);
    const response: unknown = context.switchToHttp().getResponse();
    const adapter = this.adapterHost.httpAdapter;
    if (seconds === undefined || adapter.isHeadersSent(response)) return;
    adapter.setHeader(response, 'Retry-After', String(seconds));
  }
}

/** With the defaults for what a test provides in place of a LockService, which need not have options. */
function httpStatuses(service: Partial<LockService> | undefined): ResolvedModuleOptions['http'] {
  return service?.options?.http ?? HTTP_STATUS_DEFAULTS;
}
