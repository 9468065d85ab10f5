import { Catch, Inject, Optional, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { throwError } from 'rxjs';
import { grpcCallOf } from '../grpc/grpc-call.js';
import { exceptionFor, hasHttpResponse } from './exception-for.js';
import { grpcStatus, lockMessage, logKeyError } from './public-message.js';
import { LockError } from '../../errors/lock.error.js';
import { LockService } from '../../service/lock.service.js';

/**
 * Replies to lock errors in the form of the transport.
 *
 * - Microservices: the caller's Observable fails with `{ status: 'error', code, message, retryAfter? }`.
 * - gRPC: a status such as `ABORTED`, with the code of the error in the trailer `lock-code`.
 * - Gateways: the client receives the event `exception` with the same object.
 * - HTTP and GraphQL: a status, and when to retry.
 *
 * Gateways need it: without it, Nest sends their clients "Internal server error", and logs an error. Elsewhere the
 * module sends the same replies if no filter of the application catches the error; in microservices it then also logs
 * an error.
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

  /** @hidden Returns the result that Nest expects from a filter in the context. */
  catch(error: LockError, host: ArgumentsHost): unknown {
    const type = host.getType<string>();
    this.log(error, type);
    if (type === 'rpc') {
      const call = grpcCallOf(host);
      return throwError(() => (call === undefined ? lockMessage(error) : grpcStatus(error, call)));
    }
    if (type === 'ws') return emitException(host.switchToWs().getClient(), lockMessage(error));
    const exception = exceptionFor(error, host, this.adapterHost.httpAdapter, this.service);
    // Over HTTP a filter replies; elsewhere it throws.
    if (!hasHttpResponse(host)) throw exception;
    // oxlint-disable-next-line promise/valid-params -- catch() of a filter, not of a promise
    return this.filterFor(exception).catch(exception, host);
  }

  /** @internal Logs an error over a message transport. */
  protected log(error: LockError, type: string): void {
    if (type === 'rpc' || type === 'ws') logKeyError(error);
  }

  /** @internal The filter that replies to a request with an exception. */
  protected filterFor(_exception: Error): ExceptionFilter {
    return new BaseExceptionFilter(this.adapterHost.httpAdapter);
  }
}

/** A client of a gateway: a socket of socket.io, or a plain WebSocket. */
interface GatewayClient {
  readonly readyState?: number;
  emit?(event: string, payload: unknown): unknown;
  send?(frame: string): unknown;
}

/**
 * Sends the event `exception`, as Nest does for a WsException. A plain WebSocket also has `emit`, but it stays in this
 * process; `readyState` distinguishes such a socket.
 */
function emitException(client: GatewayClient, payload: unknown): void {
  if (client.readyState === undefined) client.emit?.('exception', payload);
  else client.send?.(JSON.stringify({ event: 'exception', data: payload }));
}
