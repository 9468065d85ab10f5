/** The codes of {@link LockError}, stable across versions: match on them rather than on messages. */
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
/** Of an exception that answers a client: the error that it stands for. */
const ANSWERED = Symbol.for('nest-redis-lock.answered');

/** What every {@link LockError} can carry beside its message. */
export interface LockErrorDetails {
  /** The lock names that the failed call was about. */
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
  /** The lock names that the failed call was about; empty where none was known yet. */
  readonly keys: readonly string[];

  constructor(message: string, { keys = [], cause }: LockErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.keys = keys;
    this.name = new.target.name;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Whether it is such an error, or stands for one in an answer: so that `@Catch(LockError)` catches both. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const error = isLockError(value) ? (answeredError(value) ?? value) : value;
    return Function.prototype[Symbol.hasInstance].call(this, error);
  }
}

/**
 * Lets an exception stand for a lock error that it tells a client of: it is caught as one and has its properties, but
 * keeps its own message, and shows nothing more where it is printed or serialized.
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
 * Whether a value is an error of this package, also one made by another copy of the package
 * that the same process has loaded (where `instanceof` would say no).
 *
 * @example
 * ```ts
 * if (isLockError(error)) logger.warn(error.code);
 * ```
 */
export function isLockError(value: unknown): value is LockError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
}
