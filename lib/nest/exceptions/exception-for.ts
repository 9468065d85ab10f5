import { STATUS_CODES } from 'node:http';
import { HttpException, Logger, type ArgumentsHost } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { answeredError, type LockError, standFor } from '../../errors/lock.error.js';
import { originOf } from '../../service/invocation/error-origin.js';
import type { LockService } from '../../service/lock.service.js';
import { HTTP_STATUS_DEFAULTS } from '../../options/http-option.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { logKeyError } from './key-error-log.js';
import { LockGraphqlException } from './lock-graphql.exception.js';
import { PUBLIC_MESSAGES, retryAdvice } from './public-message.js';

/**
 * A lock error in the form in which a request over HTTP or GraphQL is to fail with it, with the `Retry-After`
 * header set; as it is in other contexts, and where the `http` option leaves errors to the application.
 */
export function exceptionFor(
  error: LockError,
  host: ArgumentsHost,
  adapter: AbstractHttpAdapter | undefined,
  service: Partial<LockService> | undefined,
): Error {
  const type = host.getType<string>();
  if (type === 'graphql') return graphqlExceptionFor(error, service);
  const statusCode = type === 'http' ? statusOf(error, service) : undefined;
  if (statusCode === undefined) return error;
  adviseRetry(error, host, adapter);
  const message = PUBLIC_MESSAGES[error.code];
  const body = { statusCode, message, error: STATUS_CODES[statusCode] ?? 'Error' };
  return standFor(new HttpException(body, statusCode, { cause: error }), error);
}

/** A lock error in the form in which a GraphQL client is to get it; as it is where the `http` option leaves it. */
export function graphqlExceptionFor(error: LockError, service: Partial<LockService> | undefined): Error {
  const status = statusOf(error, service);
  return status === undefined ? error : new LockGraphqlException(error, status);
}

/** With the defaults for what a test provides in place of a LockService; none for what has its form already. */
function statusOf(error: LockError, service: Partial<LockService> | undefined): number | undefined {
  const statuses = (originOf(error) ?? service?.options)?.http ?? HTTP_STATUS_DEFAULTS;
  if (statuses === false || answeredError(error) !== undefined) return undefined;
  const status = statuses[error.code];
  // Nest logs what it does not know, but takes these exceptions for answers that were meant.
  if (status === 500) Logger.error(error.message, error.stack, LOG_CONTEXT);
  else logKeyError(error);
  return status;
}

function adviseRetry(error: LockError, host: ArgumentsHost, adapter: AbstractHttpAdapter | undefined): void {
  const { retryAfter } = retryAdvice(error);
  const response: unknown = host.switchToHttp().getResponse();
  if (adapter === undefined || retryAfter === undefined || adapter.isHeadersSent(response)) return;
  adapter.setHeader(response, 'Retry-After', String(retryAfter));
}
