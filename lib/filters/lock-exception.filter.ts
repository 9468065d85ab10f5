import { Catch, Inject, Optional, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { throwError } from 'rxjs';
import { emitException } from '../answers/emit-exception.js';
import { exceptionFor } from '../answers/exception-for.js';
import { lockMessage } from '../answers/lock-message.js';
import { LockError } from '../errors/lock.error.js';
import { LockService } from '../lock.service.js';

/**
 * Answers lock errors in the form of the transport they happened in.
 *
 * - Microservices: the caller's Observable fails with `{ status: 'error', code, message, retryAfter? }`.
 * - Gateways: the client gets the event `exception` with the same object.
 * - HTTP and GraphQL: as {@link LockInterceptor} answers, but also from guards, and from classes without locked methods.
 *
 * Without it Nest tells clients of microservices and gateways "Internal server error", and logs an error.
 *
 * @example
 * ```ts
 * @Controller()
 * @UseFilters(LockExceptionFilter)
 * export class StockController {
 *   @MessagePattern('stock.reserve')
 *   @Locked('stock:<0.sku>')
 *   async reserve(order: Order): Promise<Receipt> { … }
 * }
 * ```
 */
@Catch(LockError)
export class LockExceptionFilter implements ExceptionFilter<LockError> {
  constructor(
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Optional() @Inject(LockService) private readonly service?: LockService,
  ) {}

  /** @internal What it returns is what Nest expects of a filter in the context. */
  catch(error: LockError, host: ArgumentsHost): unknown {
    const type = host.getType<string>();
    if (type === 'rpc') return throwError(() => lockMessage(error));
    if (type === 'ws') return emitException(host.switchToWs().getClient(), lockMessage(error));
    const exception = exceptionFor(error, host, this.adapterHost.httpAdapter, this.service) ?? error;
    // There a filter answers, elsewhere it passes on.
    if (type !== 'http') throw exception;
    return new BaseExceptionFilter(this.adapterHost.httpAdapter).catch(exception, host);
  }
}
