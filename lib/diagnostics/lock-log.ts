/** Where an instance reports what has no caller to be told; Nest's Logger is one. */
export interface LockLog {
  log(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** The context of every line that this package logs, for all of them to be found, or silenced, by one name. */
export const LOG_CONTEXT = 'RedisLock';
