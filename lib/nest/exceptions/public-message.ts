import type { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { LockError, LockErrorCode } from '../../errors/lock.error.js';

/** What a client of any transport is told: neither who holds the lock, nor its name, nor which method wanted it. */
export const PUBLIC_MESSAGES: Readonly<Record<LockErrorCode, string>> = {
  LOCK_KEY: 'The request lacks a value that it needs, or has an unusable one',
  LOCK_TIMEOUT: 'The resource is in use, try again later',
  LOCK_DEADLOCK: 'Internal server error',
  LOCK_QUEUE_FULL: 'Too many requests wait for the resource, try again later',
  LOCK_UNAVAILABLE: 'The service is unavailable at the moment',
  LOCK_LOST: 'The request was interrupted, its outcome is uncertain',
  LOCK_CLOSED: 'The service is shutting down',
  LOCK_CONFIG: 'Internal server error',
};

/** In how many seconds a client may try again; nothing where trying again soon is no good advice. */
export function retryAdvice(error: LockError): { readonly retryAfter?: number } {
  if (error.code === 'LOCK_QUEUE_FULL') return { retryAfter: 1 };
  if (error.code !== 'LOCK_TIMEOUT') return {};
  const { retryAfter = 0 } = error as Partial<LockTimeoutError>;
  return { retryAfter: Math.max(1, Math.ceil(retryAfter / 1_000)) };
}

/** What clients of message transports and gateways get of a lock error, shaped like Nest's own answers there. */
export function lockMessage(error: LockError): object {
  return { status: 'error', code: error.code, message: PUBLIC_MESSAGES[error.code], ...retryAdvice(error) };
}
