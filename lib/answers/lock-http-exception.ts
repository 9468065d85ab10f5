import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { LockError } from '../errors/lock.error.js';
import { publicMessage } from './public-answer.js';

/** A lock error as an HTTP client may see it; the error itself is its `cause`. */
export function lockHttpException(error: LockError, statusCode: number): HttpException {
  const body = {
    statusCode,
    message: publicMessage(error.code),
    error: STATUS_CODES[statusCode] ?? 'Error',
  };
  return new HttpException(body, statusCode, { cause: error });
}
