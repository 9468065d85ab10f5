import { Logger, type ArgumentsHost } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { LockError } from '../errors/lock.error.js';
import type { ResolvedModuleOptions } from '../interfaces/module-options.interface.js';
import type { LockService } from '../lock.service.js';
import { HTTP_STATUS_DEFAULTS } from '../options/http-option.js';
import { LOG_CONTEXT } from '../store/log-context.js';
import { LockGraphqlException } from './lock-graphql-exception.js';
import { lockHttpException } from './lock-http-exception.js';
import { retryAfter } from './public-answer.js';

/**
 * A lock error in the form in which a request over HTTP or GraphQL is to fail with it, with the `Retry-After`
 * header set; undefined in other contexts, and where the `http` option leaves errors to the application.
 */
export function exceptionFor(
  error: LockError,
  host: ArgumentsHost,
  adapter: AbstractHttpAdapter | undefined,
  service: Partial<LockService> | undefined,
): Error | undefined {
  const type = host.getType<string>();
  const statuses = httpStatuses(service);
  if ((type !== 'http' && type !== 'graphql') || statuses === false) return undefined;
  const status = statuses[error.code];
  // Nest logs what it does not know, but takes these exceptions for answers that were meant.
  if (status === 500) Logger.error(error.message, error.stack, LOG_CONTEXT);
  if (type === 'graphql') return new LockGraphqlException(error, status);
  adviseRetry(error, host, adapter);
  return lockHttpException(error, status);
}

function adviseRetry(error: LockError, host: ArgumentsHost, adapter: AbstractHttpAdapter | undefined): void {
  const seconds = retryAfter(error);
  const response: unknown = host.switchToHttp().getResponse();
  if (adapter === undefined || seconds === undefined || adapter.isHeadersSent(response)) return;
  adapter.setHeader(response, 'Retry-After', String(seconds));
}

/** With the defaults for what a test provides in place of a LockService, which need not have options. */
function httpStatuses(service: Partial<LockService> | undefined): ResolvedModuleOptions['http'] {
  return service?.options?.http ?? HTTP_STATUS_DEFAULTS;
}
