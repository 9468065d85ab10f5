import { IntrinsicException } from '@nestjs/common';
import { type LockError, standFor } from '../../errors/lock.error.js';
import { PUBLIC_MESSAGES, retryAdvice } from './public-message.js';

/**
 * A lock error for a GraphQL client; the original error is its `cause`.
 *
 * graphql-js copies `extensions` from any error of a resolver, so this needs no GraphQL package. It is not an
 * HttpException, because the Apollo driver replaces the code of those.
 */
export class LockGraphqlException extends IntrinsicException {
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(error: LockError, status: number) {
    super(PUBLIC_MESSAGES[error.code]);
    this.name = 'LockGraphqlException';
    this.cause = error;
    this.extensions = { code: error.code, ...retryAdvice(error), http: { status } };
    standFor(this, error);
  }
}
