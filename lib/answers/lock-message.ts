import type { LockError } from '../errors/lock.error.js';
import { publicMessage, retryAfter } from './public-answer.js';

/** What clients of message transports and gateways get, shaped like Nest's own answers there. */
export interface LockMessage {
  readonly status: 'error';
  readonly code: LockError['code'];
  readonly message: string;
  /** Seconds after which the client may try again. */
  readonly retryAfter?: number;
}

/** A lock error as a client of a message transport or gateway may see it. */
export function lockMessage(error: LockError): LockMessage {
  const seconds = retryAfter(error);
  return {
    status: 'error',
    code: error.code,
    message: publicMessage(error.code),
    ...(seconds === undefined ? {} : { retryAfter: seconds }),
  };
}
