import { STATUS_CODES } from 'node:http';
import { type ArgumentsHost, HttpException, IntrinsicException, Logger } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { replyFor } from '../../errors/error-replies.js';
import { answeredError, type LockError, standFor } from '../../errors/lock.error.js';
import { originOf } from '../../service/invocation/invocation.js';
import type { LockService } from '../../service/lock.service.js';
import { HTTP_STATUS_DEFAULTS } from '../../options/option-table.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { detailedMessage, logKeyError, retryAdvice } from './public-message.js';

/**
 * Converts a lock error for a request over HTTP or GraphQL, and sets the `Retry-After` header. In a shutdown, the reply
 * also closes the connection. Returns the error unchanged in other contexts, and if the `http` option leaves errors to
 * the application.
 */
export function exceptionFor(
  error: LockError,
  host: ArgumentsHost,
  adapter: AbstractHttpAdapter | undefined,
  service: Partial<LockService> | undefined,
): Error {
  const type = host.getType<string>();
  if (type === 'graphql') return graphqlExceptionFor(error, service);
  const statusCode = hasHttpResponse(host) ? statusOf(error, service) : undefined;
  if (statusCode === undefined) return error;
  adviseRetry(error, host, adapter);
  const { message } = replyFor(error);
  const body = { statusCode, message, error: STATUS_CODES[statusCode] ?? 'Error' };
  return standFor(new HttpException(body, statusCode, { cause: error }), error);
}

/**
 * Whether a context belongs to a request over HTTP. Other packages call handlers by Nest's ExternalContextCreator, whose
 * default type is 'http' as well. Their second argument has no method for headers, which responses of all platforms have.
 */
export function hasHttpResponse(host: ArgumentsHost): boolean {
  if (host.getType() !== 'http') return false;
  const response = host.switchToHttp().getResponse<{ setHeader?: unknown; header?: unknown } | undefined>();
  return typeof (response?.setHeader ?? response?.header) === 'function';
}

/**
 * Converts a lock error for a GraphQL client; returns it unchanged if the `http` option leaves errors to the
 * application.
 */
export function graphqlExceptionFor(error: LockError, service: Partial<LockService> | undefined): Error {
  const status = statusOf(error, service);
  return status === undefined ? error : new LockGraphqlException(error, status);
}

/** The status of an error, with the defaults for a mock of LockService; undefined for a converted error. */
function statusOf(error: LockError, service: Partial<LockService> | undefined): number | undefined {
  const statuses = (originOf(error) ?? service?.options)?.http ?? HTTP_STATUS_DEFAULTS;
  if (statuses === false || answeredError(error) !== undefined) return undefined;
  const status = statuses[error.code];
  // Nest logs unknown errors, but considers these exceptions as intended replies.
  if (status === 500) Logger.error(detailedMessage(error), error.stack, LOG_CONTEXT);
  else logKeyError(error);
  return status;
}

/** A request of Express or Fastify. */
interface Request {
  readonly raw?: Request;
  readonly httpVersionMajor?: number;
}

function adviseRetry(error: LockError, host: ArgumentsHost, adapter: AbstractHttpAdapter | undefined): void {
  const { retryAfter } = retryAdvice(error);
  const http = host.switchToHttp();
  const response: unknown = http.getResponse();
  if (adapter === undefined || retryAfter === undefined || adapter.isHeadersSent(response)) return;
  adapter.setHeader(response, 'Retry-After', String(retryAfter));
  if (error.code !== 'LOCK_CLOSED') return;
  // A client that keeps its connection would send its next request to this process, which could not end. HTTP/2 has no
  // such header.
  const request = http.getRequest<Request>();
  if ((request.raw ?? request).httpVersionMajor === 1) adapter.setHeader(response, 'Connection', 'close');
}

/**
 * A lock error for a GraphQL client; the original error is its `cause`.
 *
 * graphql-js copies `extensions` from any error of a resolver, so this needs no GraphQL package. It is not an
 * HttpException, because the Apollo driver replaces the code of those.
 */
class LockGraphqlException extends IntrinsicException {
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(error: LockError, status: number) {
    super(replyFor(error).message);
    this.name = 'LockGraphqlException';
    this.cause = error;
    this.extensions = { code: error.code, ...retryAdvice(error), http: { status } };
    standFor(this, error);
  }
}
