import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { tryTo } from '../../primitives/try-to.js';
import { replyFor } from '../../errors/error-replies.js';
import type { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { LockError } from '../../errors/lock.error.js';
import type { GrpcCall, GrpcMetadata } from '../grpc/grpc-call.js';

/** The number of seconds after which a client may retry; empty if a quick retry makes no sense. */
export function retryAdvice(error: LockError): { readonly retryAfter?: number } {
  const { retryAfter: advised } = replyFor(error);
  if (error.code !== 'LOCK_TIMEOUT') return advised === undefined ? {} : { retryAfter: advised };
  const { retryAfter = 0 } = error as Partial<LockTimeoutError>;
  return { retryAfter: Math.max(1, Math.ceil(retryAfter / 1_000)) };
}

/** Converts a lock error for clients of message transports and gateways, in the shape of Nest's own replies there. */
export function lockMessage(error: LockError): object {
  return {
    status: 'error',
    code: error.code,
    message: replyFor(error).message,
    ...retryAdvice(error),
  };
}

/**
 * Converts a lock error for a client of gRPC, into what Nest's transport sends as a status. The trailers contain what has
 * no place in a status: `lock-code`, and `retry-after` in seconds.
 */
export function grpcStatus(error: LockError, call: GrpcCall): object {
  const metadata = new (call.metadata.constructor as new () => GrpcMetadata)();
  metadata.set('lock-code', error.code);
  const { retryAfter } = retryAdvice(error);
  if (retryAfter !== undefined) metadata.set('retry-after', String(retryAfter));
  const { grpc, message } = replyFor(error);
  return { code: grpc, message, metadata };
}

/** Maximum number of remembered messages, which bounds the memory whatever clients send. */
const MOST_MESSAGES = 1_000;

const logged = new Set<string>();

/**
 * Logs a LockKeyError whose reply hides the message, because a misnamed parameter is the developer's mistake, although
 * the client receives 400. Each message, which names method, placeholder and kind of value, is logged once, so that
 * clients with bad requests do not fill the log.
 */
export function logKeyError(error: LockError): void {
  const { code, message } = error;
  if (code !== 'LOCK_KEY' || logged.has(message) || logged.size >= MOST_MESSAGES) return;
  logged.add(message);
  Logger.warn(`${detailedMessage(error)} Clients do not see this message; it is logged once.`, LOG_CONTEXT);
}

/** The message of an error for the log. For a LockKeyError, also the error of the key function or the accessor. */
export function detailedMessage({ cause, code, message }: LockError): string {
  if (code !== 'LOCK_KEY') return message;
  const reason = tryTo(() => (cause instanceof Error ? ` (${cause.name}: ${cause.message})` : ''));
  return `${message}${reason ?? ''}`;
}
