import { tryTo } from '../primitives/try-to.js';

/** Codes of {@link LockError}, stable across versions: compare them instead of messages. */
export type LockErrorCode =
  | 'LOCK_KEY'
  | 'LOCK_TIMEOUT'
  | 'LOCK_DEADLOCK'
  | 'LOCK_QUEUE_FULL'
  | 'LOCK_UNAVAILABLE'
  | 'LOCK_LOST'
  | 'LOCK_CLOSED'
  | 'LOCK_CONFIG';

const BRAND = Symbol.for('nest-redis-lock.LockError');
/** Property of an exception that is sent to a client: the lock error that it stands for. */
const ANSWERED = Symbol.for('nest-redis-lock.answered');

/** Details of every {@link LockError} besides its message. */
export interface LockErrorDetails {
  /** The lock names of the failed call. */
  readonly keys?: readonly string[];
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * The base of every error that this package throws.
 *
 * @example
 * ```ts
 * try {
 *   await locks.using('order:42', work);
 * } catch (error) {
 *   if (isLockError(error) && error.code === 'LOCK_TIMEOUT') return 'busy';
 *   throw error;
 * }
 * ```
 */
export abstract class LockError extends Error {
  abstract readonly code: LockErrorCode;
  /** The lock names of the failed call; empty if none was known yet. */
  readonly keys: readonly string[];

  constructor(message: string, { keys = [], cause }: LockErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.keys = keys;
    this.name = new.target.name;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /**
   * Whether a value is a lock error, or an exception that stands for one in a reply, so that `@Catch(LockError)`
   * catches both.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!isLockError(value)) return false;
    return Function.prototype[Symbol.hasInstance].call(this, answeredError(value) ?? value);
  }
}

/**
 * Lets an exception stand for a lock error in the reply to a client. Filters catch it as that error, and it has the
 * error's properties. It keeps its own message, and prints and serializes nothing more.
 */
export function standFor<T extends Error>(exception: T, error: LockError): T {
  for (const [name, value] of Object.entries(error)) {
    if (!(name in exception)) Object.defineProperty(exception, name, { value });
  }
  return Object.defineProperties(exception, { [BRAND]: { value: true }, [ANSWERED]: { value: error } });
}

/** The error that an exception stands for; undefined for a lock error itself. */
export function answeredError(error: LockError): LockError | undefined {
  return (error as LockError & { [ANSWERED]?: LockError })[ANSWERED];
}

/**
 * Whether a value is an error of this package. It also recognises errors of another copy of the package in the same
 * process, for which `instanceof` is false.
 *
 * @example
 * ```ts
 * if (isLockError(error)) logger.warn(error.code);
 * ```
 */
export function isLockError(value: unknown): value is LockError {
  // Work may throw anything, also a value whose properties throw. Such a value must not prevent a release.
  return tryTo(() => (Object(value) as Record<symbol, unknown>)[BRAND]) === true;
}

/**
 * A lock name is invalid, a part of a key template is missing, empty or not a scalar, or a string does not come from
 * `detach()`. The message names method, template and placeholder. HTTP clients receive 400.
 */
export class LockKeyError extends LockError {
  readonly code = 'LOCK_KEY';
}

/**
 * Too many callers of this instance wait for one name. HTTP clients receive 503 with
 * `Retry-After`.
 */
export class LockQueueFullError extends LockError {
  readonly code = 'LOCK_QUEUE_FULL';
}

/**
 * Redis did not answer within `outageTimeout`, or rejected the request; `cause` has the details. HTTP clients receive
 * 503.
 */
export class LockUnavailableError extends LockError {
  readonly code = 'LOCK_UNAVAILABLE';
}

/**
 * The lock was taken while the application shut down, which ends all waits; or the shutdown has ended. HTTP clients
 * receive 503 with `Retry-After` and `Connection: close`.
 */
export class LockClosedError extends LockError {
  readonly code = 'LOCK_CLOSED';
}

/**
 * Options are wrong, or no module provides the LockService of a `@Locked` method. Usually thrown at start. If Redis is
 * older than 7.0, calls reject with this error.
 */
export class LockConfigError extends LockError {
  readonly code = 'LOCK_CONFIG';
}
