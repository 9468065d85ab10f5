/** Where an instance reports what has no caller to be told; Nest's Logger is one. */
export interface LockLog {
  log(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
