import { Catch, Inject, Logger, Optional, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { FILTER_CATCH_EXCEPTIONS } from '@nestjs/common/constants.js';
import { type ApplicationConfig, BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { throwError } from 'rxjs';
import { grpcCallOf } from '../grpc/grpc-call.js';
import { exceptionFor, hasHttpResponse } from './exception-for.js';
import { detailedMessage, grpcStatus, lockMessage, logKeyError } from './public-message.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { replyFor } from '../../errors/error-replies.js';
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

/**
 * Handles lock errors that no filter of the application catches: errors of guards and middleware, which run before the
 * LockInterceptor, and of message handlers.
 *
 * Nest asks the last filter first, and filters of methods and classes before global ones. This filter is registered in
 * front of the global ones, so it runs after all filters of the application, whenever they are added.
 */
@Catch(LockError)
export class LastResortFilter extends LockExceptionFilter {
  constructor(
    adapterHost: HttpAdapterHost,
    service: LockService,
    private readonly application: ApplicationConfig,
  ) {
    super(adapterHost, service);
  }

  /** Over message transports, nobody may read the reply: an event, for example, has no sender that waits. */
  protected override log(error: LockError, type: string): void {
    if (['http', 'graphql'].includes(type)) return;
    if (replyFor(error).isExpected) Logger.warn(error.message, LOG_CONTEXT);
    else Logger.error(detailedMessage(error), error.stack, LOG_CONTEXT);
  }

  /** Lets a global filter for HttpExceptions format this reply, as it formats the replies of controllers. */
  protected override filterFor(exception: Error): ExceptionFilter {
    const filters = this.application.getGlobalFilters().toReversed();
    const own = filters.find((filter) => typesOf(filter).some((type) => exception instanceof type));
    return own === undefined || own instanceof LastResortFilter ? super.filterFor(exception) : own;
  }
}

function typesOf(filter: ExceptionFilter): readonly (abstract new () => unknown)[] {
  return Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, filter.constructor) ?? [];
}
