import type { LockError, LockErrorCode } from './lock.error.js';

/** How clients learn of an error. */
interface ErrorReply {
  /** HTTP status without the option `http`. */
  readonly http: number;
  /** Number of a status code of gRPC. */
  readonly grpc: number;
  /** For clients of any transport: it contains neither the holder nor the lock's name or method. */
  readonly message: string;
  /** Seconds after which a client may retry, because another instance may serve it at once. */
  readonly retryAfter?: number;
  /** Whether the error comes from contention, an outage or a shutdown: its stack leads to no defect. */
  readonly isExpected?: boolean;
}

const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;

const DEFECT = { http: 500, grpc: INTERNAL, message: 'Internal server error' };
const OUTAGE = { http: 503, grpc: UNAVAILABLE, isExpected: true };

export const ERROR_REPLIES: Readonly<Record<LockErrorCode, ErrorReply>> = {
  LOCK_KEY: {
    http: 400,
    grpc: INVALID_ARGUMENT,
    message: 'The request lacks a value that it needs, or has an unusable one',
  },
  LOCK_TIMEOUT: {
    http: 423,
    grpc: ABORTED,
    message: 'The resource is in use, try again later',
    isExpected: true,
  },
  LOCK_DEADLOCK: DEFECT,
  LOCK_QUEUE_FULL: {
    ...OUTAGE,
    grpc: RESOURCE_EXHAUSTED,
    message: 'Too many requests wait for the resource, try again later',
    retryAfter: 1,
  },
  LOCK_UNAVAILABLE: { ...OUTAGE, message: 'The service is unavailable at the moment' },
  LOCK_LOST: { ...DEFECT, message: 'The request was interrupted, its outcome is uncertain' },
  LOCK_CLOSED: { ...OUTAGE, message: 'The service is shutting down', retryAfter: 1 },
  LOCK_CONFIG: DEFECT,
};

/** How clients learn of an error. A newer copy of the package in the process may have codes that are unknown here. */
export function replyFor({ code }: LockError): ErrorReply {
  return (ERROR_REPLIES as Partial<typeof ERROR_REPLIES>)[code] ?? DEFECT;
}
