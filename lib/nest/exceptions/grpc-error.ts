import { replyFor } from '../../errors/error-replies.js';
import type { LockError } from '../../errors/lock.error.js';
import { retryAdvice } from './public-message.js';
import type { GrpcCall, GrpcMetadata } from '../grpc/grpc-call.js';

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
  const { grpc, message } = replyFor(error);
  return { code: grpc, message, metadata };
}
