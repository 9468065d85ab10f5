import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { LockTimeoutError } from '../errors/lock-timeout.error.js';
import type { LockError, LockErrorCode } from '../errors/lock.error.js';

/** What a client is told: neither who holds the lock, nor its name, nor which method wanted it. */
const MESSAGES: Readonly<Record<LockErrorCode, string>> = {
  LOCK_KEY: 'The request lacks a value that it needs, or has an unusable one',
  LOCK_TIMEOUT: 'The resource is in use, try again later',
  LOCK_QUEUE_FULL: 'Too many requests wait for the resource, try again later',
  LOCK_UNAVAILABLE: 'The service is unavailable at the moment',
  LOCK_LOST: 'The request was interrupted, its outcome is uncertain',
  LOCK_CLOSED: 'The service is shutting down',
  LOCK_CONFIG: 'Internal server error',
};

/** A lock error as an HTTP client may see it; the error itself is its `cause`. */
export function lockHttpException(error: LockError, statusCode: number): HttpException {
  const body = { statusCode, message: MESSAGES[error.code], error: STATUS_CODES[statusCode] ?? 'Error' };
  return new HttpException(body, statusCode, { cause: error });
}

/** Seconds for the `Retry-After` header; undefined where trying again soon is no good advice. */
export function retryAfter(error: LockError): number | undefined {
  if (error.code === 'LOCK_QUEUE_FULL') return 1;
  if (error.code !== 'LOCK_TIMEOUT') return undefined;
  const remaining = (error as LockTimeoutError).holder?.remaining ?? 0;
  return Math.max(1, Math.ceil(remaining / 1_000));
}
