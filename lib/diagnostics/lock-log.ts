/** Receives reports that have no caller; Nest's Logger implements it. */
export interface LockLog {
  log(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** The context of all log lines of this package, to find or silence them by one name. */
export const LOG_CONTEXT = 'RedisLock';
