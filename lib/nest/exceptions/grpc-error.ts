import type { LockError, LockErrorCode } from '../../errors/lock.error.js';
import { PUBLIC_MESSAGES, retryAdvice } from './public-message.js';
import type { GrpcCall, GrpcMetadata } from '../grpc/grpc-call.js';

/** The numbers of gRPC's status codes. */
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;

export const GRPC_STATUSES: Readonly<Record<LockErrorCode, number>> = {
  LOCK_KEY: INVALID_ARGUMENT,
  LOCK_TIMEOUT: ABORTED,
  LOCK_DEADLOCK: INTERNAL,
  LOCK_QUEUE_FULL: RESOURCE_EXHAUSTED,
  LOCK_UNAVAILABLE: UNAVAILABLE,
  LOCK_LOST: INTERNAL,
  LOCK_CLOSED: UNAVAILABLE,
  LOCK_CONFIG: INTERNAL,
};

/** An error in the form that Nest's gRPC transport sends as a status. */
export interface GrpcError {
  readonly code: number;
  readonly message: string;
  /** Trailers of the reply. */
  readonly metadata: GrpcMetadata;
}

/**
 * Converts a lock error for a client of gRPC. The trailers contain what has no place in a status: `lock-code`, and
 * `retry-after` in seconds.
 */
export function grpcError(error: LockError, call: GrpcCall): GrpcError {
  const metadata = new (call.metadata.constructor as new () => GrpcMetadata)();
  metadata.set('lock-code', error.code);
  const { retryAfter } = retryAdvice(error);
  if (retryAfter !== undefined) metadata.set('retry-after', String(retryAfter));
  return { code: GRPC_STATUSES[error.code], message: PUBLIC_MESSAGES[error.code], metadata };
}
