import { Catch, Inject, Optional, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { throwError } from 'rxjs';
import { exceptionFor } from './exception-for.js';
import { logKeyError } from './key-error-log.js';
import { lockMessage } from './public-message.js';
import { LockError } from '../../errors/lock.error.js';
import { LockService } from '../../service/lock.service.js';

/**
 * Answers lock errors in the form of the transport they happened in.
 *
 * - Microservices: the caller's Observable fails with `{ status: 'error', code, message, retryAfter? }`.
 * - Gateways: the client gets the event `exception` with the same object.
 * - HTTP and GraphQL: with a status, and when to try again.
 *
 * Gateways need it: without it Nest tells their clients "Internal server error", and logs an error. Elsewhere the module
 * answers so by itself what no filter of the application catches; in microservices it logs an error then, too.
 *
 * @example
 * ```ts
 * const LockGateway = () => applyDecorators(WebSocketGateway(), UseFilters(LockExceptionFilter));
 * ```
 */
@Catch(LockError)
export class LockExceptionFilter implements ExceptionFilter<LockError> {
  constructor(
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Optional() @Inject(LockService) private readonly service?: LockService,
  ) {}

  /** @hidden What it returns is what Nest expects of a filter in the context. */
  catch(error: LockError, host: ArgumentsHost): unknown {
    const type = host.getType<string>();
    if (type === 'rpc' || type === 'ws') logKeyError(error);
    if (type === 'rpc') return throwError(() => lockMessage(error));
    if (type === 'ws') return emitException(host.switchToWs().getClient(), lockMessage(error));
    const exception = exceptionFor(error, host, this.adapterHost.httpAdapter, this.service);
    // There a filter answers, elsewhere it passes on.
    if (type !== 'http') throw exception;
    // oxlint-disable-next-line promise/valid-params -- that of a filter, not of a promise
    return this.filterFor(exception).catch(exception, host);
  }

  /** @internal What answers a request with an exception. */
  protected filterFor(_exception: Error): ExceptionFilter {
    return new BaseExceptionFilter(this.adapterHost.httpAdapter);
  }
}

/** A client of a gateway: of socket.io, or a plain WebSocket. */
interface GatewayClient {
  readonly readyState?: number;
  emit?(event: string, payload: unknown): unknown;
  send?(frame: string): unknown;
}

/**
 * Sends the event `exception`, as Nest does with a WsException. A plain WebSocket has `emit`, too, but that stays in this
 * process; it is told by its `readyState`.
 */
function emitException(client: GatewayClient, payload: unknown): void {
  if (client.readyState === undefined) client.emit?.('exception', payload);
  else client.send?.(JSON.stringify({ event: 'exception', data: payload }));
}
